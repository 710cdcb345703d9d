package foo_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubefake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/clientset/fake"
	"example.com/byhand/controller"
	"example.com/byhand/controller/foo"
	"example.com/byhand/informer"
)

// Fakes give objects no resourceVersion. Then the controller's own writes count as observed.
func TestOverFakes(t *testing.T) {
	object := &v1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "foo", UID: "uid"}, Spec: spec("deployment", 1)}
	client, kube := fake.NewClientset(object), kubefake.NewClientset()
	r := &foo.Reconciler{
		Foos:            client.SamplecontrollerV1alpha1(),
		Deployments:     kube.AppsV1(),
		FooStore:        cache.NewIndexer(cache.MetaNamespaceKeyFunc, informer.FooIndexers()),
		DeploymentStore: cache.NewIndexer(cache.MetaNamespaceKeyFunc, informer.DeploymentIndexers()),
		Events:          events.NewFakeRecorder(10),
		Rewrites:        controller.NewRewrites(),
	}
	if err := r.FooStore.Add(object); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Reconcile(t.Context(), fooKey); err != nil {
		t.Fatal(err)
	}

	written, err := client.SamplecontrollerV1alpha1().Foos("default").Get(t.Context(), "foo", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	deployment, err := kube.AppsV1().Deployments("default").Get(t.Context(), "deployment", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for store, object := range map[cache.Store]any{r.FooStore: written, r.DeploymentStore: deployment} {
		if err := store.Update(object); err != nil {
			t.Fatal(err)
		}
	}
	client.ClearActions()
	kube.ClearActions()
	if again, err := r.Reconcile(t.Context(), fooKey); again != 0 || err != nil {
		t.Errorf("requeue after %s, error %v, want 0s and nil", again, err)
	}
	if n := len(client.Actions()) + len(kube.Actions()); n != 0 {
		t.Errorf("%d more requests, want none", n)
	}
}
