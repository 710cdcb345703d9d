package controller

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
)

// An informer calls its handler after it has updated the store, one call at a time. A handler only
// enqueues keys: a slow handler delays every later event.

// EnqueueObject returns the handler for the kind that is reconciled: each event of an object enqueues its
// key. A new object, a new spec and a deletion also end the key's back-off.
func EnqueueObject(queue Queue) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, isInInitialList bool) {
			key := cache.MetaObjectToName(obj.(metav1.Object))
			queue.Forget(key)
			adder(queue, !isInInitialList)(key)
		},
		UpdateFunc: func(before, after any) {
			was, is := before.(metav1.Object), after.(metav1.Object)
			key := cache.MetaObjectToName(is)
			if was.GetUID() != is.GetUID() || was.GetGeneration() != is.GetGeneration() {
				queue.Forget(key)
			}
			adder(queue, isChanged(was, is))(key)
		},
		DeleteFunc: func(obj any) {
			// This also reads the key of a tombstone, the record of a missed deletion.
			if key, err := cache.DeletionHandlingObjectToName(obj); err == nil {
				queue.Forget(key)
				queue.Add(key)
			}
		},
	}
}

// EnqueueOwner returns the handler for dependents, here Deployments, of objects of kind owner. Each event of a
// dependent enqueues the key of its controller, the owner reference with controller: true, if it has this kind.
// It also enqueues the keys that the functions in others return, such as the keys of objects that wait for the
// dependent's name.
func EnqueueOwner(queue Queue, owner schema.GroupKind, others ...func(dependent metav1.Object) []cache.ObjectName) cache.ResourceEventHandler {
	return EnqueueKeys(queue, func(dependent metav1.Object) (keys []cache.ObjectName) {
		if ref := metav1.GetControllerOfNoCopy(dependent); ref != nil && IsKind(ref, owner) {
			keys = append(keys, cache.NewObjectName(dependent.GetNamespace(), ref.Name))
		}
		for _, keysOf := range others {
			keys = append(keys, keysOf(dependent)...)
		}
		return keys
	})
}

// EnqueueKeys returns the handler for any other kind: each event of an object enqueues the keys that keysOf
// returns for it. An update enqueues the keys of the old and the new version: if the owner
// changes, both owners must be reconciled.
func EnqueueKeys(queue Queue, keysOf func(obj metav1.Object) []cache.ObjectName) cache.ResourceEventHandler {
	enqueue := func(obj any, isChange bool) {
		// A tombstone holds the last known object, or only its key. The resync covers the second case.
		if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
			obj = tombstone.Obj
		}
		if object, ok := obj.(metav1.Object); ok {
			for _, key := range keysOf(object) {
				adder(queue, isChange)(key)
			}
		}
	}
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, isInInitialList bool) { enqueue(obj, !isInInitialList) },
		UpdateFunc: func(before, after any) {
			if isChanged(before.(metav1.Object), after.(metav1.Object)) { // Skip resyncs: the owners' resync already enqueues their keys.
				enqueue(before, true)
				enqueue(after, true)
			}
		},
		DeleteFunc: func(obj any) { enqueue(obj, true) },
	}
}

// adder returns the method that enqueues a key. Changes come before keys of an initial list or a resync.
func adder(queue Queue, isChange bool) func(key cache.ObjectName) {
	if isChange {
		return queue.Add
	}
	return queue.AddLowPriority
}

// isChanged reports whether an update is a change. Resyncs and relists repeat a version. A fake client has
// no versions: each of its updates counts.
func isChanged(was, is metav1.Object) bool {
	return is.GetResourceVersion() == "" || is.GetResourceVersion() != was.GetResourceVersion()
}

// IsKind reports whether an owner reference refers to an object of this kind, in any version of its group.
func IsKind(ref *metav1.OwnerReference, kind schema.GroupKind) bool {
	return schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).GroupKind() == kind
}
