//go:build integration

package e2e

import (
	"fmt"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

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
