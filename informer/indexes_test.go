package informer_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/informer"
)

// The indexes find objects by UID, and by namespace and name.
func TestIndexes(t *testing.T) {
	deployments := cache.NewIndexer(cache.MetaNamespaceKeyFunc, informer.DeploymentIndexers())
	for _, d := range []appsv1.Deployment{
		{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "controlled", OwnerReferences: []metav1.OwnerReference{{UID: "one", Controller: new(true)}}}},
		{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "only-owned", OwnerReferences: []metav1.OwnerReference{{UID: "one"}}}},
		{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "of-another", OwnerReferences: []metav1.OwnerReference{{UID: "two", Controller: new(true)}}}},
		{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "nobodys"}},
		{ObjectMeta: metav1.ObjectMeta{Namespace: "elsewhere", Name: "forged", OwnerReferences: []metav1.OwnerReference{{UID: "one", Controller: new(true)}}}},
	} {
		if err := deployments.Add(&d); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, d := range informer.DeploymentsOf(deployments, &metav1.ObjectMeta{Namespace: "default", UID: "one"}) {
		got = append(got, d.Name)
	}
	if diff := cmp.Diff([]string{"controlled"}, got); diff != "" {
		t.Errorf("Deployments of UID one (-want +got):\n%s", diff)
	}

	foos := cache.NewIndexer(cache.MetaNamespaceKeyFunc, informer.FooIndexers())
	for _, namespace := range []string{"default", "elsewhere"} {
		f := &v1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "one"}, Spec: v1alpha1.FooSpec{DeploymentName: "wanted"}}
		if err := foos.Add(f); err != nil {
			t.Fatal(err)
		}
	}
	naming := informer.FoosNaming(foos)(&metav1.ObjectMeta{Namespace: "default", Name: "wanted"})
	if len(naming) != 1 || naming[0] != cache.NewObjectName("default", "one") {
		t.Errorf("Foos that name default/wanted: %v, want only the one in that namespace", naming)
	}
}
