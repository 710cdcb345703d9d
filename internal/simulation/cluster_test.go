package simulation

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

// The garbage collector and the deployment controller.

// collectorActs is one act of the garbage collector, or of the program that holds an object
// back with a finalizer.
func (s *sequence) collectorActs() bool {
	var due []func() bool
	for _, path := range s.paths("deployments") {
		deployment := typed[appsv1.Deployment](s, s.api.Get(path))
		if act := s.collectDeployment(path, deployment); act != nil {
			due = append(due, act)
		}
	}
	for _, path := range s.paths("foos") {
		foo := typed[v1alpha1.Foo](s, s.api.Get(path))
		if act := s.finalizeFoo(path, foo); act != nil {
			due = append(due, act)
		}
	}
	return len(due) > 0 && pick(s, due)()
}

// collectDeployment returns what is to be done about a Deployment, or nil.
func (s *sequence) collectDeployment(path string, deployment *appsv1.Deployment) func() bool {
	switch {
	case slices.Contains(deployment.Finalizers, metav1.FinalizerDeleteDependents):
		return func() bool { return s.dropFinalizer("collector", path, metav1.FinalizerDeleteDependents) }
	case slices.Contains(deployment.Finalizers, hold) && (deployment.DeletionTimestamp != nil || s.resting):
		return func() bool { return s.dropFinalizer("stranger", path, hold) }
	case deployment.DeletionTimestamp == nil && s.ownersGone(deployment):
		return func() bool { return s.terminate("collector", path, metav1.DeletePropagationBackground) }
	default:
		return nil
	}
}

// ownersGone reports whether each owner of a Deployment is a Foo that its
// namespace does not have.
func (s *sequence) ownersGone(deployment *appsv1.Deployment) bool {
	for _, owner := range deployment.OwnerReferences {
		foo := s.api.Get(pathOf("foos", cache.NewObjectName(deployment.Namespace, owner.Name)))
		if owner.Kind != "Foo" || foo != nil && foo.GetUID() == owner.UID {
			return false
		}
	}
	return len(deployment.OwnerReferences) > 0
}

// finalizeFoo returns what is to be done about a Foo that is being deleted: to
// delete or orphan one of its Deployments, and when none is left, to let it go.
func (s *sequence) finalizeFoo(path string, foo *v1alpha1.Foo) func() bool {
	if foo.DeletionTimestamp == nil {
		return nil
	}
	waits := false
	for _, dependent := range s.paths("deployments") {
		deployment := s.api.Get(dependent)
		if deployment.GetNamespace() != foo.Namespace || !slices.ContainsFunc(deployment.GetOwnerReferences(), func(o metav1.OwnerReference) bool { return o.UID == foo.UID }) {
			continue
		}
		switch {
		case foo.Finalizers[0] == metav1.FinalizerOrphanDependents:
			return func() bool {
				return s.change("collector", dependent, "orphan", func(object *unstructured.Unstructured) { object.SetOwnerReferences(nil) })
			}
		case deployment.GetDeletionTimestamp() == nil:
			return func() bool { return s.terminate("collector", dependent, metav1.DeletePropagationBackground) }
		default:
			waits = true // for somebody's finalizer
		}
	}
	if waits {
		return nil
	}
	return func() bool { return s.dropFinalizer("collector", path, foo.Finalizers[0]) }
}

func (s *sequence) dropFinalizer(who, path, finalizer string) bool {
	return s.change(who, path, "without finalizer "+finalizer, func(object *unstructured.Unstructured) {
		object.SetFinalizers(slices.DeleteFunc(object.GetFinalizers(), func(f string) bool { return f == finalizer }))
	})
}

// rolloutActs is one act of the deployment controller: it has seen the newest
// spec of a Deployment and some of its Pods are available; at rest, all.
func (s *sequence) rolloutActs() bool {
	var due []func() bool
	for _, path := range s.paths("deployments") {
		deployment := typed[appsv1.Deployment](s, s.api.Get(path))
		available := wantedReplicas(deployment)
		if !s.resting {
			available = s.rand.Int32N(available + 1)
		}
		if deployment.Status.AvailableReplicas != available || deployment.Status.ObservedGeneration != deployment.Generation {
			due = append(due, func() bool {
				status := map[string]any{"replicas": int64(available), "availableReplicas": int64(available), "observedGeneration": deployment.Generation}
				return s.setField("rollout", path, status, "status")
			})
		}
	}
	return len(due) > 0 && pick(s, due)()
}

func wantedReplicas(deployment *appsv1.Deployment) int32 {
	if deployment.Spec.Replicas == nil {
		return 1
	}
	return max(0, *deployment.Spec.Replicas)
}
