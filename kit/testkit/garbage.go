package testkit

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Act is what another program does next to a stored object.
type Act struct {
	Path string // of the object
	What string // in words
	Do   func()
}

// Garbage returns what the garbage collector would do now. Nothing is done until Do is called, and
// then only if the object is still there.
func (s *APIServer) Garbage() (due []Act) {
	objects := s.owners()
	for _, path := range slices.Sorted(maps.Keys(objects)) {
		object := objects[path]
		if object.GetDeletionTimestamp() == nil {
			if s.ownersGone(object) {
				due = append(due, s.collect(path, object))
			}
			continue
		}
		own := slices.IndexFunc(object.GetFinalizers(), func(f string) bool {
			return f == metav1.FinalizerOrphanDependents || f == metav1.FinalizerDeleteDependents
		})
		if own >= 0 { // The collector removes only its own finalizers.
			due = append(due, s.finalize(path, object, object.GetFinalizers()[own], objects)...)
		}
	}
	return due
}

// owners returns, by path, the objects with owners and the objects being deleted.
func (s *APIServer) owners() map[string]*unstructured.Unstructured {
	s.mu.Lock()
	defer s.mu.Unlock()
	objects := map[string]*unstructured.Unstructured{}
	for path, object := range s.objects {
		if object.GetDeletionTimestamp() != nil || len(object.GetOwnerReferences()) > 0 {
			objects[path] = object
		}
	}
	return objects
}

// ownersGone reports whether an object has owners and all of them are missing. An owner of a kind that is not
// served keeps the object: a real collector cannot look it up, and retries forever.
func (s *APIServer) ownersGone(object *unstructured.Unstructured) bool {
	owners := object.GetOwnerReferences()
	for _, owner := range owners {
		kind := schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind)
		at := slices.IndexFunc(s.resources, func(res *Resource) bool { return res.GroupVersionKind == kind })
		if at < 0 {
			return false
		}
		if stored := s.Get(s.resources[at].Path(object.GetNamespace(), owner.Name)); stored != nil && stored.GetUID() == owner.UID {
			return false
		}
	}
	return len(owners) > 0
}

// finalize returns the next act for an object that is being deleted: delete or orphan one of its dependents, or
// remove the finalizer when no dependent is left. It returns nil while dependents are still being deleted.
func (s *APIServer) finalize(path string, object *unstructured.Unstructured, finalizer string, objects map[string]*unstructured.Unstructured) []Act {
	isOwner := func(o metav1.OwnerReference) bool { return o.UID == object.GetUID() }
	waits := false
	for _, path := range slices.Sorted(maps.Keys(objects)) {
		dependent := objects[path]
		if !slices.ContainsFunc(dependent.GetOwnerReferences(), isOwner) {
			continue
		}
		switch {
		case finalizer == metav1.FinalizerOrphanDependents:
			return []Act{s.act(path, dependent, "orphan", func(res *Resource, object *unstructured.Unstructured) {
				owners := slices.DeleteFunc(object.GetOwnerReferences(), isOwner)
				if len(owners) == 0 {
					owners = nil // [] is something else.
				}
				object.SetOwnerReferences(owners)
				s.put(res, path, object)
			})}
		case dependent.GetDeletionTimestamp() == nil:
			return []Act{s.collect(path, dependent)}
		default:
			waits = true
		}
	}
	if waits {
		return nil
	}
	return []Act{s.dropFinalizer(path, object, finalizer)}
}

func (s *APIServer) collect(path string, object *unstructured.Unstructured) Act {
	return s.act(path, object, "delete", func(res *Resource, _ *unstructured.Unstructured) {
		s.terminate(res, path, metav1.DeletePropagationBackground)
	})
}

func (s *APIServer) dropFinalizer(path string, object *unstructured.Unstructured, finalizer string) Act {
	return s.act(path, object, "without finalizer "+finalizer, func(res *Resource, object *unstructured.Unstructured) {
		object.SetFinalizers(slices.DeleteFunc(object.GetFinalizers(), func(f string) bool { return f == finalizer }))
		s.put(res, path, object)
	})
}

// act returns an act on the object at the path. When it runs, do gets a copy of the object's current state.
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
