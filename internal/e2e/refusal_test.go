//go:build integration

package e2e

import (
	"fmt"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

// A ValidatingAdmissionPolicy that gives no reason answers 422, as for a bad spec. The
// Foo says the policy's words and what still runs, and goes on when the policy is
// lifted, which no event tells.
func TestPolicyWithoutReason(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	c := s.controller("--resync", "0")
	s.createFoo("foo", spec("deployment", 1))
	s.converges("foo", "deployment", 1)

	lift := s.enforce(s.policy(admissionv1.Validation{Expression: "object.spec.replicas <= 2", Message: "two are enough"}), func() error {
		probe := somebodys("probe")
		probe.Spec.Replicas = new(int32(3))
		_, err := s.kube.AppsV1().Deployments(s.namespace).Create(s.Context(), probe, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if !apierrors.IsInvalid(err) {
			return fmt.Errorf("a probe: %v", err)
		}
		return nil
	})
	s.changeFoo("foo", func(spec *v1alpha1.FooSpec) { *spec.Replicas = 3 })
	s.says("foo", v1alpha1.ReasonForbidden, "two are enough")
	s.saysReplicas("foo", 1)
	lift()
	s.converges("foo", "deployment", 3)
	if warned, err := s.warnings(); err != nil || warned["foo"] != 1 {
		t.Errorf("warned %v (%v), want once", warned, err)
	}

	// Blocked for another reason, and three replicas still run.
	s.createDeployment(somebodys("taken"))
	s.changeFoo("foo", func(spec *v1alpha1.FooSpec) { spec.DeploymentName = "taken" })
	s.says("foo", v1alpha1.ReasonNameTaken, "has no controller")
	s.saysReplicas("foo", 3)
	c.Stop()
}

// saysReplicas fails the test unless the Foo's status says that this many replicas run.
func (s *server) saysReplicas(name string, want int32) {
	s.Helper()
	foo, err := s.foo(name)
	if err != nil {
		s.Fatal(err)
	}
	if foo.Status.Replicas != want || foo.Status.AvailableReplicas != want {
		s.Errorf("the status of Foo %s says %d replicas, %d available, want %d", name, foo.Status.Replicas, foo.Status.AvailableReplicas, want)
	}
}
