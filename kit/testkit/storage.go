package testkit

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// Change is one change of a stored object, as a watch of all resources would deliver it. Its objects belong to
// the server: do not modify them.
type Change struct {
	Type watch.EventType // Added, Modified or Deleted
	// Path is the URL of the object.
	Path string
	// Version is the resourceVersion of the change. Each change has a new one.
	Version int
	// Object is the new state, or the last one if the object was deleted. Before is the previous state, nil for
	// a new object.
	Object, Before *unstructured.Unstructured
}

// storage keeps objects and the history of their changes. Its owner locks it.
type storage struct {
	version int
	objects map[string]*unstructured.Unstructured // by path; replaced, never changed
	// history holds each change after the version oldest; base is the state at oldest.
	history []Change
	oldest  int
	base    map[string]*unstructured.Unstructured
}

// firstVersion is the resourceVersion of a server without objects.
const firstVersion = 100

func newStorage() storage {
	return storage{version: firstVersion, oldest: firstVersion, objects: map[string]*unstructured.Unstructured{}, base: map[string]*unstructured.Unstructured{}}
}

// put stores an object and returns the stored one. Like etcd, it skips a write that changes nothing. It removes
// an object that is being deleted when its last finalizer is gone.
func (s *storage) put(res *Resource, path string, object *unstructured.Unstructured) *unstructured.Unstructured {
	before := s.objects[path]
	if before != nil {
		object.SetResourceVersion(before.GetResourceVersion())
		if reflect.DeepEqual(before.Object, object.Object) {
			return before
		}
		if object.GetDeletionTimestamp() != nil && len(object.GetFinalizers()) == 0 {
			s.drop(path)
			return object
		}
	}
	event := watch.Modified
	switch {
	case before == nil:
		event = watch.Added
		object.SetUID(types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", s.version+1)))
		object.SetCreationTimestamp(metav1.NewTime(time.Now()))
		if res.Generation {
			object.SetGeneration(1)
		}
	case res.Generation && (before.GetDeletionTimestamp() == nil && object.GetDeletionTimestamp() != nil || res.isNewGeneration(before, object)):
		object.SetGeneration(before.GetGeneration() + 1)
	}
	s.change(event, path, object)
	s.objects[path] = object
	return object
}

// isNewGeneration reports whether the users' part of an object has changed: the spec, or everything but
// metadata and status of a custom resource.
func (r *Resource) isNewGeneration(before, after *unstructured.Unstructured) bool {
	if r.builtIn() {
		return !reflect.DeepEqual(before.Object["spec"], after.Object["spec"])
	}
	rest := func(object *unstructured.Unstructured) map[string]any {
		rest := maps.Clone(object.Object)
		delete(rest, "metadata")
		if r.Status {
			delete(rest, "status")
		}
		return rest
	}
	return !reflect.DeepEqual(rest(before), rest(after))
}

// drop deletes the object at a path. A watch receives its last state, with the version of the deletion.
func (s *storage) drop(path string) {
	s.change(watch.Deleted, path, s.objects[path].DeepCopy())
	delete(s.objects, path)
}

// terminate deletes an object as a DELETE request does: with finalizers it stays until they are removed.
func (s *storage) terminate(res *Resource, path string, policy metav1.DeletionPropagation) *unstructured.Unstructured {
	object := s.objects[path].DeepCopy()
	if policy != "" {
		finalizers := slices.DeleteFunc(object.GetFinalizers(), func(f string) bool {
			return f == metav1.FinalizerOrphanDependents || f == metav1.FinalizerDeleteDependents
		})
		switch policy {
		case metav1.DeletePropagationOrphan:
			finalizers = append(finalizers, metav1.FinalizerOrphanDependents)
		case metav1.DeletePropagationForeground:
			finalizers = append(finalizers, metav1.FinalizerDeleteDependents)
		}
		object.SetFinalizers(finalizers)
	}
	if len(object.GetFinalizers()) == 0 {
		s.drop(path)
		return object
	}
	if object.GetDeletionTimestamp() == nil {
		now := metav1.Now()
		object.SetDeletionTimestamp(&now)
		object.SetDeletionGracePeriodSeconds(new(int64))
	}
	return s.put(res, path, object)
}

// change gives an object the next version and adds it to the history.
func (s *storage) change(event watch.EventType, path string, object *unstructured.Unstructured) {
	s.version++
	object.SetResourceVersion(strconv.Itoa(s.version))
	s.history = append(s.history, Change{Type: event, Path: path, Version: s.version, Object: object, Before: s.objects[path]})
}

// after returns the changes after a version, which must not be older than oldest.
func (s *storage) after(version int) []Change {
	return s.history[min(version-s.oldest, len(s.history)):]
}

// at returns the objects stored at a version, and false if that version is unknown.
func (s *storage) at(version int) (map[string]*unstructured.Unstructured, bool) {
	if version == s.version {
		return s.objects, true
	}
	if version < s.oldest || version > s.version {
		return nil, false
	}
	objects := maps.Clone(s.base)
	for _, c := range s.history[:version-s.oldest] {
		objects[c.Path] = c.Object
		if c.Type == watch.Deleted {
			delete(objects, c.Path)
		}
	}
	return objects, true
}

func (s *storage) compact() {
	s.history, s.oldest, s.base = nil, s.version, maps.Clone(s.objects)
}
