//go:build integration || bare || long

package e2e

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

func (s *server) foo(name string) (*v1alpha1.Foo, error) {
	return s.client.SamplecontrollerV1alpha1().Foos(s.namespace).Get(s.Context(), name, metav1.GetOptions{})
}

func (s *server) deployment(name string) (*appsv1.Deployment, error) {
	return s.kube.AppsV1().Deployments(s.namespace).Get(s.Context(), name, metav1.GetOptions{})
}

func (s *server) deleteFoo(name string) {
	s.Helper()
	if err := s.client.SamplecontrollerV1alpha1().Foos(s.namespace).Delete(s.Context(), name, metav1.DeleteOptions{}); err != nil {
		s.Fatal(err)
	}
}

func (s *server) deleteDeployment(name string) {
	s.Helper()
	if err := s.kube.AppsV1().Deployments(s.namespace).Delete(s.Context(), name, metav1.DeleteOptions{}); err != nil {
		s.Fatal(err)
	}
}

func (s *server) patchDeployment(name, patch string) {
	s.Helper()
	if _, err := s.kube.AppsV1().Deployments(s.namespace).Patch(s.Context(), name, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		s.Fatal(err)
	}
}

// goes waits until there is no Deployment of this name.
func (s *server) goes(deployment string) {
	s.Helper()
	s.eventually("Deployment "+deployment+" goes", func() error { _, err := s.deployment(deployment); return gone(err) })
}

// converges waits until the Foo is Ready with this many replicas, in a Deployment
// of this name that it controls, and that many Pods run.
func (s *server) converges(foo, deployment string, replicas int32) {
	s.Helper()
	s.eventually(fmt.Sprintf("Foo %s gets %d replicas in Deployment %s", foo, replicas, deployment), func() error {
		f, err := s.foo(foo)
		if err != nil {
			return err
		}
		d, err := s.deployment(deployment)
		if err != nil {
			return err
		}
		if !metav1.IsControlledBy(d, f) {
			return fmt.Errorf("the Deployment's owners are %v", d.OwnerReferences)
		}
		ready := meta.FindStatusCondition(f.Status.Conditions, v1alpha1.FooReady)
		if ready == nil || ready.Status != metav1.ConditionTrue || f.Status.Replicas != replicas || f.Status.AvailableReplicas != replicas || f.Status.ObservedGeneration != f.Generation {
			return fmt.Errorf("the Foo's status is %+v", f.Status)
		}
		pods, err := s.kube.CoreV1().Pods(s.namespace).List(s.Context(), metav1.ListOptions{LabelSelector: f.Status.Selector})
		if err != nil {
			return err
		}
		running := int32(0)
		for _, pod := range pods.Items {
			if pod.Status.Phase == corev1.PodRunning && pod.DeletionTimestamp == nil {
				running++
			}
		}
		if running != replicas {
			return fmt.Errorf("%d Pods run", running)
		}
		return nil
	})
}

// settles fails the test if the controller goes on writing: once the Deployment
// is quiet, a second look at everything (a restart) must send nothing.
func (s *server) settles(foos ...string) {
	s.Helper()
	before := map[string]string{}
	for _, name := range foos {
		f, err := s.foo(name)
		if err != nil {
			s.Fatal(err)
		}
		before[name] = f.ResourceVersion
	}
	again := s.controller()
	again.Stop()
	if output := again.Output(); strings.Contains(output, "  sent ") {
		s.Errorf("a second look sends requests:\n%s", output)
	}
	for _, name := range foos {
		if f, err := s.foo(name); err != nil || f.ResourceVersion != before[name] {
			s.Errorf("Foo %s went from version %s to %s (%v)", name, before[name], f.ResourceVersion, err)
		}
	}
}

// consistent returns what is wrong between the Foos and the Deployments of the
// namespace, or nil: each Foo controls the one Deployment that it names, or says
// that the name is taken; each Deployment that a Foo controls is named by that
// Foo; each status is true.
func (s *server) consistent() error {
	foos, err := s.client.SamplecontrollerV1alpha1().Foos(s.namespace).List(s.Context(), metav1.ListOptions{})
	if err != nil {
		return err
	}
	deployments, err := s.kube.AppsV1().Deployments(s.namespace).List(s.Context(), metav1.ListOptions{})
	if err != nil {
		return err
	}
	byName, byUID := map[string]*appsv1.Deployment{}, map[types.UID]*v1alpha1.Foo{}
	running := map[types.UID]int32{} // in all the Deployments that a Foo controls
	for i := range deployments.Items {
		byName[deployments.Items[i].Name] = &deployments.Items[i]
		if owner := metav1.GetControllerOf(&deployments.Items[i]); owner != nil {
			running[owner.UID] += deployments.Items[i].Status.AvailableReplicas
		}
	}
	var wrong []error
	for i := range foos.Items {
		foo := &foos.Items[i]
		byUID[foo.UID] = foo
		if err := agrees(foo, byName[foo.Spec.DeploymentName]); err != nil {
			wrong = append(wrong, fmt.Errorf("Foo %s: %w", foo.Name, err))
		}
		if waits(foo) && foo.Status.AvailableReplicas != running[foo.UID] {
			wrong = append(wrong, fmt.Errorf("Foo %s: the status says %d available, %d are", foo.Name, foo.Status.AvailableReplicas, running[foo.UID]))
		}
	}
	for name, deployment := range byName {
		owner := metav1.GetControllerOf(deployment)
		if owner == nil || owner.Kind != "Foo" {
			continue
		}
		if foo := byUID[owner.UID]; foo == nil {
			wrong = append(wrong, fmt.Errorf("Deployment %s: its Foo %s is gone", name, owner.Name))
		} else if foo.Spec.DeploymentName != name && !waits(foo) {
			wrong = append(wrong, fmt.Errorf("Deployment %s: its Foo %s names %s", name, owner.Name, foo.Spec.DeploymentName))
		}
	}
	return errors.Join(wrong...)
}

// agrees returns what is wrong with a Foo and the Deployment of the name that it
// asks for, which is nil if there is none.
func agrees(foo *v1alpha1.Foo, deployment *appsv1.Deployment) error {
	if foo.DeletionTimestamp != nil || deployment == nil || deployment.DeletionTimestamp != nil {
		return fmt.Errorf("not settled: Foo %v, Deployment %v", foo.DeletionTimestamp, deployment)
	}
	ready := meta.FindStatusCondition(foo.Status.Conditions, v1alpha1.FooReady)
	if ready == nil || foo.Status.ObservedGeneration != foo.Generation || ready.ObservedGeneration != foo.Generation {
		return fmt.Errorf("the status is not of generation %d: %+v", foo.Generation, foo.Status)
	}
	if !metav1.IsControlledBy(deployment, foo) {
		if ready.Reason != v1alpha1.ReasonNameTaken {
			return fmt.Errorf("the name is taken, and Ready is %s for %s", ready.Status, ready.Reason)
		}
		return nil
	}
	wanted := *deployment.Spec.Replicas
	containers := deployment.Spec.Template.Spec.Containers
	switch {
	case foo.Spec.Replicas != nil && *foo.Spec.Replicas != wanted:
		return fmt.Errorf("the Deployment has %d replicas, want %d", wanted, *foo.Spec.Replicas)
	case !slices.ContainsFunc(containers, func(c corev1.Container) bool { return c.Image == "nginx:1.29" }):
		return fmt.Errorf("the Deployment's containers are %v", containers)
	case ready.Status != metav1.ConditionTrue || foo.Status.AvailableReplicas != wanted:
		return fmt.Errorf("%d of %d replicas, and Ready is %s for %s", foo.Status.AvailableReplicas, wanted, ready.Status, ready.Reason)
	case foo.Status.Replicas != deployment.Status.Replicas:
		return fmt.Errorf("the status has %d replicas, the Deployment's %d", foo.Status.Replicas, deployment.Status.Replicas)
	}
	return nil
}

// waits reports whether a Foo cannot have the Deployment that it names. It keeps
// the one that it had until it can.
func waits(foo *v1alpha1.Foo) bool {
	ready := meta.FindStatusCondition(foo.Status.Conditions, v1alpha1.FooReady)
	return ready != nil && ready.Reason == v1alpha1.ReasonNameTaken
}
