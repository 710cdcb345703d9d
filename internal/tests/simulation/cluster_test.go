package simulation

import (
	"maps"
	"reflect"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/byhand/internal/tests/oracle"
)

// The garbage collector and the deployment controller.

// collectorActs is one act of the garbage collector, or of the program that holds an object
// back with a finalizer.
func (s *sequence) collectorActs() bool {
	var due []func() bool
	for _, act := range s.api.Garbage() {
		due = append(due, func() bool {
			s.rules.touched[act.Path]++
			act.Do()
			s.note("collector", "%s: %s → v%d", short(act.Path), act.What, s.api.Version())
			return true
		})
	}
	for _, path := range s.api.Paths("deployments") {
		if deployment := s.api.Get(path); slices.Contains(deployment.GetFinalizers(), hold) && !s.isHeld(hold) && (deployment.GetDeletionTimestamp() != nil || s.resting) {
			due = append(due, func() bool { return s.dropFinalizer("stranger", path, hold) })
		}
	}
	return len(due) > 0 && pick(s, due)()
}

func (s *sequence) dropFinalizer(who, path, finalizer string) bool {
	return s.change(who, path, "without finalizer "+finalizer, func(object *unstructured.Unstructured) {
		object.SetFinalizers(slices.DeleteFunc(object.GetFinalizers(), func(f string) bool { return f == finalizer }))
	})
}

// rolloutActs is one act of the Deployment controller. It has seen the newest spec, and some Pods are
// available; at rest, all.
func (s *sequence) rolloutActs() bool {
	var due []func() bool
	for _, path := range s.api.Paths("deployments") {
		deployment := typed[appsv1.Deployment](s, s.api.Get(path))
		available := max(0, oracle.Replicas(deployment))
		if !s.resting {
			available = s.rand.Int32N(available + 1)
		}
		status := s.rolledOut(deployment, available)
		if is, _, _ := unstructured.NestedMap(s.api.Get(path).Object, "status"); !maps.EqualFunc(is, status, func(a, b any) bool { return reflect.DeepEqual(a, b) }) {
			due = append(due, func() bool {
				return s.setField("rollout", path, status, "status")
			})
		}
	}
	return len(due) > 0 && pick(s, due)()
}

// rolledOut is the status of a Deployment with these replicas of its newest template, as far as attackers
// permit.
func (s *sequence) rolledOut(deployment *appsv1.Deployment, available int32) map[string]any {
	n := int64(available)
	status := map[string]any{"replicas": n, "updatedReplicas": n, "availableReplicas": n, "observedGeneration": deployment.Generation}
	for _, a := range s.attackers {
		if a.report != nil {
			a.report(status)
		}
	}
	return status
}
