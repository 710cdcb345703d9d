package main

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

func TestWrong(t *testing.T) {
	for _, test := range []struct {
		reason string
		change func(foo *v1alpha1.Foo, deployment *appsv1.Deployment) *appsv1.Deployment
		want   string
	}{
		{"all is well", func(_ *v1alpha1.Foo, d *appsv1.Deployment) *appsv1.Deployment { return d }, ""},
		{"no Deployment", func(*v1alpha1.Foo, *appsv1.Deployment) *appsv1.Deployment { return nil }, "its Deployment is missing"},
		{"of another Foo of the same name", func(foo *v1alpha1.Foo, d *appsv1.Deployment) *appsv1.Deployment {
			foo.UID = "another"
			return d
		}, "its Deployment is controlled by"},
		{"other replicas", func(foo *v1alpha1.Foo, d *appsv1.Deployment) *appsv1.Deployment {
			foo.Spec.Replicas = new(int32(2))
			return d
		}, "it wants 2 replicas"},
		{"no status", func(foo *v1alpha1.Foo, d *appsv1.Deployment) *appsv1.Deployment {
			foo.ManagedFields = foo.ManagedFields[:1]
			return d
		}, "nobody has written its status"},
	} {
		foo := newFoo("foo")
		foo.UID = "uid"
		foo.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "harness"}, {Manager: "byhand", Subresource: "status"}}
		deployment := &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(foo, v1alpha1.SchemeGroupVersion.WithKind("Foo"))}},
			Spec:       appsv1.DeploymentSpec{Replicas: new(int32(1))},
		}
		got := wrong(foo, test.change(foo, deployment))
		if len(got) < len(test.want) || got[:len(test.want)] != test.want || (test.want == "" && got != "") {
			t.Errorf("%s: %q, want %q", test.reason, got, test.want)
		}
	}
}
