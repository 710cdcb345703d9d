package e2e

import (
	"errors"
	"net/http"
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1/applyconfiguration"
	"example.com/byhand/clientset"
)

// What Foos alone do: they can be scaled, and have a number that may be left out.
var ofFoos = map[string]func(t *testing.T, c fooClient){
	"leave out": leaveOut, "scale": scale, "unset replicas": unsetReplicas,
}

type fooClient = client[*v1alpha1.Foo, *v1alpha1.FooList, *applyconfiguration.FooApplyConfiguration]

// A field that is left out of an update, removed by a patch, or no longer sent by its
// only owner, is gone.
func leaveOut(t *testing.T, foos fooClient) {
	must := must[*v1alpha1.Foo](t)
	one := must(foos.Create(t.Context(), newFoo("one"), metav1.CreateOptions{}))
	one.Spec.Replicas = nil
	if updated := must(foos.Update(t.Context(), one, metav1.UpdateOptions{})); updated.Spec.Replicas != nil {
		t.Errorf("replicas %d after an Update without them", *updated.Spec.Replicas)
	}
	merged := must(foos.Patch(t.Context(), "one", types.MergePatchType, []byte(`{"spec":{"replicas":4}}`), metav1.PatchOptions{}))
	if *merged.Spec.Replicas != 4 || merged.Spec.DeploymentName != "deployment" {
		t.Errorf("spec %+v after a merge patch of replicas", merged.Spec)
	}
	edited := must(foos.Patch(t.Context(), "one", types.JSONPatchType, []byte(`[{"op":"remove","path":"/spec/replicas"}]`), metav1.PatchOptions{}))
	if edited.Spec.Replicas != nil {
		t.Errorf("replicas %d after a JSON patch that removes them", *edited.Spec.Replicas)
	}

	opts := metav1.ApplyOptions{FieldManager: "test"}
	must(foos.Apply(t.Context(), appliedFoo("applied"), opts))
	withoutReplicas := appliedFoo("applied")
	withoutReplicas.Spec.Replicas = nil
	dropped := must(foos.Apply(t.Context(), withoutReplicas, opts))
	if dropped.Spec.Replicas != nil {
		t.Errorf("replicas %d after an Apply without them", *dropped.Spec.Replicas)
	}
}

func scale(t *testing.T, c fooClient) {
	must := must[*v1alpha1.Foo](t)
	foos := c.(clientset.FooInterface)
	one := must(foos.Create(t.Context(), newFoo("one"), metav1.CreateOptions{}))
	one.Status = v1alpha1.FooStatus{Replicas: 3, AvailableReplicas: 2, Selector: "a=b"}
	must(foos.UpdateStatus(t.Context(), one, metav1.UpdateOptions{}))
	got, err := foos.GetScale(t.Context(), "one", metav1.GetOptions{})
	if err != nil || got.Name != "one" || got.Spec.Replicas != 1 {
		t.Fatalf("scale %+v (%v), want the Foo's 1 replica", got, err)
	}
	if want := (autoscalingv1.ScaleStatus{Replicas: 3, Selector: "a=b"}); got.Status != want {
		t.Errorf("the scale's status is %+v, want %+v: replicas count before they are available", got.Status, want)
	}
	got.Spec.Replicas = 4
	if updated, err := foos.UpdateScale(t.Context(), "one", got, metav1.UpdateOptions{}); err != nil || updated.Spec.Replicas != 4 {
		t.Errorf("scale %+v (%v), want 4 replicas", updated, err)
	}
	if scaled := must(foos.Get(t.Context(), "one", metav1.GetOptions{})); *scaled.Spec.Replicas != 4 || scaled.Spec.DeploymentName != "deployment" {
		t.Errorf("spec %+v, want 4 replicas and the rest as it was", scaled.Spec)
	}
	if _, err := foos.GetScale(t.Context(), "absent", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the scale of a Foo that is not there: error %v, want NotFound", err)
	}
}

// GetScale fails while a Foo has no number of replicas. UpdateScale gives it one.
func unsetReplicas(t *testing.T, c fooClient) {
	must := must[*v1alpha1.Foo](t)
	foos := c.(clientset.FooInterface)
	for name, replicas := range map[string]int32{"none": 0, "four": 4} {
		unset := newFoo(name)
		unset.Spec.Replicas = nil
		must(foos.Create(t.Context(), unset, metav1.CreateOptions{}))
		_, err := foos.GetScale(t.Context(), name, metav1.GetOptions{})
		want := `Internal error occurred: the spec replicas field ".spec.replicas" does not exist`
		if status := apierrors.APIStatus(nil); !errors.As(err, &status) || status.Status().Code != http.StatusInternalServerError ||
			!apierrors.IsInternalError(err) || err.Error() != want {
			t.Errorf("GetScale: error %#v, want an InternalError with code 500: %s", err, want)
		}
		wanted := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: autoscalingv1.ScaleSpec{Replicas: replicas}}
		if updated, err := foos.UpdateScale(t.Context(), name, wanted, metav1.UpdateOptions{}); err != nil || updated.Spec.Replicas != replicas {
			t.Errorf("UpdateScale: %+v (%v), want %d replicas", updated, err, replicas)
		}
		if got, err := foos.GetScale(t.Context(), name, metav1.GetOptions{}); err != nil || got.Spec.Replicas != replicas {
			t.Errorf("GetScale after UpdateScale: %+v (%v), want %d replicas", got, err, replicas)
		}
	}
}
