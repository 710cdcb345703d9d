//go:build integration

package e2e

import (
	"fmt"
	"strings"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1/applyconfiguration"
)

// Two appliers share a Foo: each owns the fields that it sent, a field that one
// has is refused to the other unless it forces, and what was not sent is left
// alone.
func TestApply(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	foos := s.client.SamplecontrollerV1alpha1().Foos(s.namespace)
	people, autoscaler := metav1.ApplyOptions{FieldManager: "people"}, metav1.ApplyOptions{FieldManager: "autoscaler"}
	name := applyconfiguration.Foo("foo", s.namespace).WithSpec(applyconfiguration.FooSpec().WithDeploymentName("d"))
	two := applyconfiguration.Foo("foo", s.namespace).WithSpec(applyconfiguration.FooSpec().WithReplicas(2))
	if _, err := foos.Apply(t.Context(), name, people); err != nil {
		t.Fatal(err)
	}
	foo, err := foos.Apply(t.Context(), two, autoscaler)
	if err != nil {
		t.Fatal(err)
	}
	if foo.Spec.DeploymentName != "d" || *foo.Spec.Replicas != 2 {
		t.Errorf("spec %+v, want both appliers' fields", foo.Spec)
	}
	name.Spec.WithReplicas(5)
	if _, err := foos.Apply(t.Context(), name, people); !apierrors.IsConflict(err) || !strings.Contains(err.Error(), `conflict with "autoscaler"`) {
		t.Errorf("error %v, want a Conflict that names the field's owner", err)
	}
	people.Force = true
	if foo, err = foos.Apply(t.Context(), name, people); err != nil || *foo.Spec.Replicas != 5 {
		t.Errorf("spec %+v (%v), want the 5 replicas that were forced", foo.Spec, err)
	}
	status := applyconfiguration.Foo("foo", s.namespace).WithStatus(applyconfiguration.FooStatus().WithAvailableReplicas(4))
	if foo, err = foos.ApplyStatus(t.Context(), status, people); err != nil || foo.Status.AvailableReplicas != 4 || *foo.Spec.Replicas != 5 {
		t.Errorf("Foo %+v (%v), want 4 available and the spec as it was", foo, err)
	}
}

// A HorizontalPodAutoscaler finds a Foo's scale and, in it, the selector of its
// Pods, if the Foo has a number of replicas. Without one it must target the
// Deployment. It has no metrics here, so it gets no further than asking for them.
func TestAutoscaler(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	c := s.controller()
	s.createFoo("foo", v1alpha1.FooSpec{DeploymentName: "deployment"})
	s.converges("foo", "deployment", 1)
	autoscalers := s.kube.AutoscalingV2().HorizontalPodAutoscalers(s.namespace)
	autoscale := func(target autoscalingv2.CrossVersionObjectReference) {
		t.Helper()
		_, err := autoscalers.Create(t.Context(), &autoscalingv2.HorizontalPodAutoscaler{
			ObjectMeta: metav1.ObjectMeta{Name: target.Name},
			Spec:       autoscalingv2.HorizontalPodAutoscalerSpec{MaxReplicas: 5, ScaleTargetRef: target},
		}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
	}
	says := func(target, ableToScale, scalingActive string) {
		t.Helper()
		s.eventually("the autoscaler of "+target+" says "+ableToScale, func() error {
			autoscaler, err := autoscalers.Get(t.Context(), target, metav1.GetOptions{})
			if err != nil {
				return err
			}
			reasons := map[autoscalingv2.HorizontalPodAutoscalerConditionType]string{}
			for _, condition := range autoscaler.Status.Conditions {
				reasons[condition.Type] = condition.Reason
			}
			if reasons[autoscalingv2.AbleToScale] != ableToScale || reasons[autoscalingv2.ScalingActive] != scalingActive {
				return fmt.Errorf("its conditions are %v", reasons)
			}
			return nil
		})
	}
	autoscale(autoscalingv2.CrossVersionObjectReference{APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: "Foo", Name: "foo"})
	autoscale(autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "deployment"})
	says("foo", "FailedGetScale", "")
	says("deployment", "SucceededGetScale", "FailedGetResourceMetric")

	// Two autoscalers of the same Pods would refuse to work.
	if err := autoscalers.Delete(t.Context(), "deployment", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	s.changeFoo("foo", func(spec *v1alpha1.FooSpec) { spec.Replicas = new(int32(2)) })
	says("foo", "SucceededGetScale", "FailedGetResourceMetric")
	c.Stop()
}
