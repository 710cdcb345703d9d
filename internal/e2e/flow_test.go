//go:build integration

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1/applyconfiguration"
)

// From a Foo to running Pods, and everything that people then do to it.
func TestLifeOfAFoo(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	c := s.controller()
	s.createFoo("example-foo", spec("example-foo", 1))
	s.converges("example-foo", "example-foo", 1)

	// Scaled.
	s.changeFoo("example-foo", func(spec *v1alpha1.FooSpec) { *spec.Replicas = 3 })
	s.converges("example-foo", "example-foo", 3)

	// Scaled through the scale subresource, as kubectl scale does.
	foos := s.client.SamplecontrollerV1alpha1().Foos(s.namespace)
	scale, err := foos.GetScale(s.Context(), "example-foo", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if scale.Spec.Replicas != 3 || scale.Status.Replicas != 3 || scale.Status.Selector == "" {
		t.Errorf("scale %+v, want 3 of 3 replicas and a selector for an autoscaler to find the Pods by", scale)
	}
	scale.Spec.Replicas = 2
	if _, err := foos.UpdateScale(s.Context(), "example-foo", scale, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.converges("example-foo", "example-foo", 2)

	// Somebody scales the Deployment behind the Foo's back.
	s.patchDeployment("example-foo", `{"spec":{"replicas":5}}`)
	s.converges("example-foo", "example-foo", 2)

	// Somebody deletes it.
	old, err := s.deployment("example-foo")
	if err != nil {
		t.Fatal(err)
	}
	s.deleteDeployment("example-foo")
	s.eventually("a new Deployment", func() error {
		d, err := s.deployment("example-foo")
		if err == nil && d.UID == old.UID {
			return fmt.Errorf("it is the old one")
		}
		return err
	})
	s.converges("example-foo", "example-foo", 2)

	// Renamed: the new one comes, the old one goes.
	s.changeFoo("example-foo", func(spec *v1alpha1.FooSpec) { spec.DeploymentName = "renamed" })
	s.converges("example-foo", "renamed", 2)
	s.goes("example-foo")

	// Deleted and made anew under the same name: the new Foo gets a Deployment of
	// its own once the collector has removed the old one's.
	s.deleteFoo("example-foo")
	s.createFoo("example-foo", spec("renamed", 1))
	s.converges("example-foo", "renamed", 1)

	// 0 is a number of replicas, too.
	s.changeFoo("example-foo", func(spec *v1alpha1.FooSpec) { *spec.Replicas = 0 })
	s.converges("example-foo", "renamed", 0)

	c.stop()
	s.settles("example-foo")
	if strings.Contains(c.output(), "409 Conflict") {
		t.Log("the Deployment's controller was faster once or more; the Foo converged all the same")
	}
}

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
	c.stop()
}

// The Foo goes, its Deployment and its Pods follow, and nothing comes back:
// neither when the Foo goes first nor when it stays until its Deployment is gone.
func TestDeletion(t *testing.T) {
	t.Parallel()
	for _, propagation := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground} {
		t.Run(string(propagation), func(t *testing.T) {
			s := newServer(t)
			c := s.controller()
			s.createFoo("foo", spec("deployment", 2))
			s.converges("foo", "deployment", 2)

			err := s.client.SamplecontrollerV1alpha1().Foos(s.namespace).Delete(s.Context(), "foo", metav1.DeleteOptions{PropagationPolicy: &propagation})
			if err != nil {
				t.Fatal(err)
			}
			s.eventually("the Foo goes", func() error { _, err := s.foo("foo"); return gone(err) })
			s.goes("deployment")
			s.eventually("the Pods go", func() error {
				pods, err := s.kube.CoreV1().Pods(s.namespace).List(s.Context(), metav1.ListOptions{})
				if err == nil && len(pods.Items) > 0 {
					return fmt.Errorf("%d are left", len(pods.Items))
				}
				return err
			})
			c.stop()
			if created := strings.Count(c.output(), "sent     POST"); created != 1 {
				t.Errorf("%d Deployments were created, want the first only", created)
			}
		})
	}
}

// A Deployment that is somebody else's is left alone, the Foo says why it waits,
// other Foos are not disturbed, and the Foo gets the name when it is free.
func TestForeignDeployment(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	theirs := s.createDeployment(somebodys("theirs"))
	c := s.controller()
	s.createFoo("foo", spec("theirs", 3))
	s.says("foo", v1alpha1.ReasonNameTaken, "has no controller")
	s.createFoo("other", spec("other", 1))
	s.converges("other", "other", 1)
	if now, err := s.deployment("theirs"); err != nil || now.Generation != theirs.Generation || len(now.OwnerReferences) != 0 {
		t.Errorf("their Deployment was touched: generation %d, owners %v (%v)", now.Generation, now.OwnerReferences, err)
	}
	s.eventually("one warning event", func() error {
		events, err := s.kube.CoreV1().Events(s.namespace).List(s.Context(), metav1.ListOptions{FieldSelector: "involvedObject.name=foo,reason=NameTaken"})
		if err == nil && (len(events.Items) != 1 || events.Items[0].Count != 1 || events.Items[0].Type != corev1.EventTypeWarning) {
			return fmt.Errorf("%d events", len(events.Items))
		}
		return err
	})

	s.deleteDeployment("theirs")
	s.converges("foo", "theirs", 3)
	c.stop()
}

// What changed while no controller ran is put right by the next one; what did not
// change costs no request.
func TestRestart(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	first := s.controller()
	s.createFoo("changed", spec("changed", 1))
	s.createFoo("deleted", spec("deleted", 1))
	s.createFoo("same", spec("same", 1))
	for _, name := range []string{"changed", "deleted", "same"} {
		s.converges(name, name, 1)
	}
	// SIGKILL: it cannot finish anything.
	if err := first.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-first.done

	same, err := s.foo("same")
	if err != nil {
		t.Fatal(err)
	}
	s.changeFoo("changed", func(spec *v1alpha1.FooSpec) { *spec.Replicas = 2; spec.DeploymentName = "renamed" })
	s.deleteFoo("deleted")
	s.createFoo("created", spec("created", 1))

	second := s.controller()
	s.converges("changed", "renamed", 2)
	s.converges("created", "created", 1)
	s.goes("changed")
	s.goes("deleted")
	second.stop()
	if now, err := s.foo("same"); err != nil || now.ResourceVersion != same.ResourceVersion {
		t.Errorf("the Foo that nobody changed was written (%v)", err)
	}
	s.settles("changed", "created", "same")
}

// Names of the greatest length work: no label is made of a Foo's name.
func TestLongNames(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	c := s.controller()
	name := strings.Repeat("n", 253)
	s.createFoo(name, spec("short", 1))
	s.converges(name, "short", 1)
	c.stop()
}

// A namespace that is being deleted takes its Foos along, and the controller creates
// nothing new in it.
func TestNamespaceDeletion(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	c := s.controller()
	s.createFoo("foo", spec("deployment", 1))
	s.converges("foo", "deployment", 1)
	if err := s.kube.CoreV1().Namespaces().Delete(s.Context(), s.namespace, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	s.eventually("the namespace goes", func() error {
		_, err := s.kube.CoreV1().Namespaces().Get(s.Context(), s.namespace, metav1.GetOptions{})
		return gone(err)
	})
	c.stop()
	if strings.Contains(c.output(), "Reconcile failed") {
		t.Error("the deletion of the namespace was reported as a failure")
	}
	// For the clean-up of the test.
	if _, err := s.kube.CoreV1().Namespaces().Create(context.Background(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.namespace}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// Projects are kept in memory, and each change is told.
func TestProjectsAreTold(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	raw := s.client.ExamplesV1alpha1().Projects(s.namespace)
	project := newProject("example-project", 1)
	if _, err := raw.Create(s.Context(), project, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	c := s.controller()
	c.waitFor("found    Project " + s.namespace + "/example-project: replicas 1")
	c.waitFor("in memory: 1 Projects, 0 Foos, 0 Deployments")
	if _, err := raw.Patch(s.Context(), "example-project", types.MergePatchType, []byte(`{"spec":{"replicas":4}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	c.waitFor("changed  Project " + s.namespace + "/example-project: replicas 4")
	if err := raw.Delete(s.Context(), "example-project", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	c.waitFor("deleted  Project " + s.namespace + "/example-project: it is gone")
	c.stop()
}
