//go:build integration

package e2e

import (
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

// A Foo can be scaled. GetScale fails while it has no number of replicas, and UpdateScale
// gives it one.
func TestScale(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	foos := s.client.SamplecontrollerV1alpha1().Foos(s.namespace)
	foo := s.createFoo("foo", v1alpha1.FooSpec{DeploymentName: "deployment"})
	_, err := foos.GetScale(t.Context(), "foo", metav1.GetOptions{})
	if want := `Internal error occurred: the spec replicas field ".spec.replicas" does not exist`; !apierrors.IsInternalError(err) || err.Error() != want {
		t.Errorf("GetScale without replicas: error %v, want %s", err, want)
	}
	foo.Status = v1alpha1.FooStatus{Replicas: 3, AvailableReplicas: 2, Selector: "a=b"}
	if _, err := foos.UpdateStatus(t.Context(), foo, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, replicas := range []int32{0, 4} {
		wanted := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Name: "foo"}, Spec: autoscalingv1.ScaleSpec{Replicas: replicas}}
		if updated, err := foos.UpdateScale(t.Context(), "foo", wanted, metav1.UpdateOptions{}); err != nil || updated.Spec.Replicas != replicas {
			t.Errorf("UpdateScale: %+v (%v), want %d replicas", updated, err, replicas)
		}
		got, err := foos.GetScale(t.Context(), "foo", metav1.GetOptions{})
		if err != nil || got.Name != "foo" || got.Spec.Replicas != replicas {
			t.Errorf("GetScale: %+v (%v), want %d replicas", got, err, replicas)
		}
		if want := (autoscalingv1.ScaleStatus{Replicas: 3, Selector: "a=b"}); got.Status != want {
			t.Errorf("the scale's status is %+v, want %+v: replicas count before they are available", got.Status, want)
		}
	}
	if scaled, err := s.foo("foo"); err != nil || *scaled.Spec.Replicas != 4 || scaled.Spec.DeploymentName != "deployment" {
		t.Errorf("spec %+v (%v), want 4 replicas and the rest as it was", scaled.Spec, err)
	}
	// A field that is left out of an update is gone.
	foo, err = s.foo("foo")
	if err != nil {
		t.Fatal(err)
	}
	foo.Spec.Replicas = nil
	if updated, err := foos.Update(t.Context(), foo, metav1.UpdateOptions{}); err != nil || updated.Spec.Replicas != nil {
		t.Errorf("spec %+v (%v) after an Update without replicas", updated.Spec, err)
	}
	if _, err := foos.GetScale(t.Context(), "absent", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the scale of a Foo that is not there: error %v, want NotFound", err)
	}
}
