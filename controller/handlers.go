package controller

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
)

// An informer calls its handler after the store has changed, one call at a time; the handlers
// of two informers run at the same time. A handler only adds keys: work done here would delay
// every event behind it.

// EnqueueObject returns the handler for the kind that is reconciled: every event of
// an object adds its key.
func EnqueueObject(queue Queue) cache.ResourceEventHandler {
	enqueue := func(obj any) {
		// It also reads the key of a tombstone, the record of a missed deletion.
		if key, err := cache.DeletionHandlingObjectToName(obj); err == nil {
			queue.Add(key)
		}
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    enqueue,
		UpdateFunc: func(_, after any) { enqueue(after) },
		DeleteFunc: enqueue,
	}
}

// EnqueueOwner returns the handler for a kind of dependents, here Deployments. Every event of a
// dependent adds the key of the object that controls it (its owner reference with controller:
// true), if that is of the kind owner. It also adds the keys that waiting returns, owners that may
// wait for this dependent's name, unless nothing that they wait for has changed: whether it exists,
// who controls it, and whether it is being deleted. A thousand Foos may name one Deployment, whose
// status changes all the time.
func EnqueueOwner(queue Queue, owner schema.GroupKind, waiting func(dependent cache.ObjectName) []cache.ObjectName) cache.ResourceEventHandler {
	enqueueOwner := func(obj any) {
		// A tombstone holds the last known object, or only the key.
		if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
			obj = tombstone.Obj
		}
		dependent, ok := obj.(metav1.Object)
		if !ok {
			return
		}
		if ref := metav1.GetControllerOfNoCopy(dependent); ref != nil && IsKind(ref, owner) {
			queue.Add(cache.NewObjectName(dependent.GetNamespace(), ref.Name))
		}
	}
	enqueueWaiting := func(obj any) {
		if dependent, err := cache.DeletionHandlingObjectToName(obj); err == nil {
			for _, key := range waiting(dependent) {
				queue.Add(key)
			}
		}
	}
	enqueue := func(obj any) { enqueueWaiting(obj); enqueueOwner(obj) }
	return cache.ResourceEventHandlerFuncs{
		AddFunc: enqueue,
		UpdateFunc: func(before, after any) {
			if isUnchanged(before, after) {
				return // The owners have a resync of their own.
			}
			// Another owner may have taken the Deployment: both must know.
			enqueueOwner(before)
			enqueueOwner(after)
			if holder(before) != holder(after) {
				enqueueWaiting(after)
			}
		},
		DeleteFunc: enqueue,
	}
}

// holder is who has the name of an object, for those that wait for it: another text, another holder.
func holder(obj any) string {
	object := obj.(metav1.Object)
	owner := ptr.Deref(metav1.GetControllerOfNoCopy(object), metav1.OwnerReference{})
	return fmt.Sprint(owner.UID, object.GetDeletionTimestamp() != nil)
}

// isUnchanged reports whether a handler is called for an object that did not change. A fake
// gives no versions: there each call counts as a change.
func isUnchanged(before, after any) bool {
	version := after.(metav1.Object).GetResourceVersion()
	return version != "" && version == before.(metav1.Object).GetResourceVersion()
}

// IsKind reports whether an owner reference is to an object of this kind, in any version
// of its group.
func IsKind(ref *metav1.OwnerReference, kind schema.GroupKind) bool {
	return schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).GroupKind() == kind
}
