//go:build integration

package e2e

import (
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/scale"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

// scales is client-go's client for the scale of any kind: autoscalers use it.
func scales(t *testing.T, config *rest.Config, namespace string) scale.ScaleInterface {
	t.Helper()
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client))
	getter, err := scale.NewForConfig(config, mapper, dynamic.LegacyAPIPathResolverFunc, scale.NewDiscoveryScaleKindResolver(client))
	if err != nil {
		t.Fatal(err)
	}
	return getter.Scales(namespace)
}

// A Foo can be scaled. Its scale cannot be read while it has no number of replicas, and an update of
// the scale gives it one.
func TestScale(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	foos, scales, resource := s.client.SamplecontrollerV1alpha1().Foos(s.namespace), scales(t, s.config, s.namespace), v1alpha1.Resource("foos")
	foo := s.createFoo("foo", v1alpha1.FooSpec{DeploymentName: "deployment"})
	_, err := scales.Get(t.Context(), resource, "foo", metav1.GetOptions{})
	if want := `Internal error occurred: the spec replicas field ".spec.replicas" does not exist`; !apierrors.IsInternalError(err) || err.Error() != want {
		t.Errorf("Get without replicas: error %v, want %s", err, want)
	}
	foo.Status = v1alpha1.FooStatus{Replicas: 3, AvailableReplicas: 2, Selector: "a=b"}
	if _, err := foos.UpdateStatus(t.Context(), foo, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, replicas := range []int32{0, 4} {
		wanted := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Name: "foo"}, Spec: autoscalingv1.ScaleSpec{Replicas: replicas}}
		if updated, err := scales.Update(t.Context(), resource, wanted, metav1.UpdateOptions{}); err != nil || updated.Spec.Replicas != replicas {
			t.Errorf("Update: %+v (%v), want %d replicas", updated, err, replicas)
		}
		got, err := scales.Get(t.Context(), resource, "foo", metav1.GetOptions{})
		if err != nil || got.Name != "foo" || got.Spec.Replicas != replicas {
			t.Errorf("Get: %+v (%v), want %d replicas", got, err, replicas)
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
	if _, err := scales.Get(t.Context(), resource, "absent", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the scale of a Foo that is not there: error %v, want NotFound", err)
	}
}
