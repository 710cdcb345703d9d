package testkit

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Act is what another program does next to a stored object.
type Act struct {
	Path string // of the object
	What string // in words
	Do   func()
}

// Garbage returns what the garbage collector would do now about Deployments, and about Foos
// that are being deleted. Nothing is done until Do is called, and then only if the object is
// still there.
func (s *APIServer) Garbage() (due []Act) {
	deployments := s.Paths("deployments")
	for _, path := range deployments {
		deployment := s.Get(path)
		switch {
		case deployment == nil:
		case slices.Contains(deployment.GetFinalizers(), metav1.FinalizerDeleteDependents):
			due = append(due, s.dropFinalizer(path, deployment, metav1.FinalizerDeleteDependents))
		case deployment.GetDeletionTimestamp() == nil && s.ownersGone(deployment):
			due = append(due, s.collect(path, deployment))
		}
	}
	for _, path := range s.Paths("foos") {
		if foo := s.Get(path); foo != nil && foo.GetDeletionTimestamp() != nil {
			own := slices.IndexFunc(foo.GetFinalizers(), func(f string) bool {
				return f == metav1.FinalizerOrphanDependents || f == metav1.FinalizerDeleteDependents
			})
			if own >= 0 { // Another's finalizer is not the collector's to take away.
				due = append(due, s.finalize(path, foo, foo.GetFinalizers()[own], deployments)...)
			}
		}
	}
	return due
}

// ownersGone reports whether each owner of a Deployment is a Foo that its namespace does not
// have.
func (s *APIServer) ownersGone(deployment *unstructured.Unstructured) bool {
	for _, owner := range deployment.GetOwnerReferences() {
		foo := s.Get("/apis/" + owner.APIVersion + "/namespaces/" + deployment.GetNamespace() + "/foos/" + owner.Name)
		if owner.Kind != "Foo" || foo != nil && foo.GetUID() == owner.UID {
			return false
		}
	}
	return len(deployment.GetOwnerReferences()) > 0
}

// finalize returns the next act about a Foo that is being deleted: to delete or orphan one of
// its Deployments, and when none is left, to let it go. There is none while another's
// finalizer keeps a Deployment.
func (s *APIServer) finalize(path string, foo *unstructured.Unstructured, finalizer string, deployments []string) []Act {
	waits := false
	for _, dependent := range deployments {
		deployment := s.Get(dependent)
		if deployment == nil || deployment.GetNamespace() != foo.GetNamespace() ||
			!slices.ContainsFunc(deployment.GetOwnerReferences(), func(o metav1.OwnerReference) bool { return o.UID == foo.GetUID() }) {
			continue
		}
		switch {
		case finalizer == metav1.FinalizerOrphanDependents:
			return []Act{s.act(dependent, deployment, "orphan", func(res *Resource, object *unstructured.Unstructured) {
				object.SetOwnerReferences(nil)
				s.put(res, dependent, object)
			})}
		case deployment.GetDeletionTimestamp() == nil:
			return []Act{s.collect(dependent, deployment)}
		default:
			waits = true
		}
	}
	if waits {
		return nil
	}
	return []Act{s.dropFinalizer(path, foo, finalizer)}
}

func (s *APIServer) collect(path string, deployment *unstructured.Unstructured) Act {
	return s.act(path, deployment, "delete", func(res *Resource, _ *unstructured.Unstructured) {
		s.terminate(res, path, metav1.DeletePropagationBackground)
	})
}

func (s *APIServer) dropFinalizer(path string, object *unstructured.Unstructured, finalizer string) Act {
	return s.act(path, object, "without finalizer "+finalizer, func(res *Resource, object *unstructured.Unstructured) {
		object.SetFinalizers(slices.DeleteFunc(object.GetFinalizers(), func(f string) bool { return f == finalizer }))
		s.put(res, path, object)
	})
}

// act returns an act on an object, which is at the path now. do gets a copy of what it is then.
func (s *APIServer) act(path string, object *unstructured.Unstructured, what string, do func(res *Resource, object *unstructured.Unstructured)) Act {
	uid := object.GetUID()
	return Act{path, what, func() {
		s.acts(path, func(res *Resource) {
			if now := s.objects[path]; now != nil && now.GetUID() == uid {
				do(res, now.DeepCopy())
			}
		})
	}}
}
