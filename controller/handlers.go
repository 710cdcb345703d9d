package controller

import (
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/informer"
)

// Handlers run one after the other in the informer's goroutine, after the store
// has changed. They only add keys: work done here would hold up every event
// behind it.

// EnqueueFoos returns the handler of the Foo informer: whatever happens to a Foo,
// its key goes into the queue.
func EnqueueFoos(queue Queue) cache.ResourceEventHandler {
	enqueue := func(obj any, add func(cache.ObjectName)) {
		// Also understands a tombstone, the record of a deletion that was missed.
		if key, err := cache.DeletionHandlingObjectToName(obj); err == nil {
			add(key)
		}
	}
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc:    func(obj any, isInInitialList bool) { enqueue(obj, adder(queue, isInInitialList)) },
		UpdateFunc: func(before, after any) { enqueue(after, adder(queue, isResync(before, after))) },
		DeleteFunc: func(obj any) { enqueue(obj, queue.Add) },
	}
}

// adder returns how a key is added: behind the others if nothing has changed.
func adder(queue Queue, unchanged bool) func(cache.ObjectName) {
	if unchanged {
		return queue.AddLowPriority
	}
	return queue.Add
}

// isResync reports whether a handler hears of the same version again: the object
// did not change, it is only looked at again.
func isResync(before, after any) bool {
	return before.(metav1.Object).GetResourceVersion() == after.(metav1.Object).GetResourceVersion()
}

// EnqueueFoosOfDeployment returns the handler of the Deployment informer: it
// enqueues the Foo that controls the Deployment, and those in the store foos that
// name it and may have waited for this change.
func EnqueueFoosOfDeployment(queue Queue, foos cache.Indexer) cache.ResourceEventHandler {
	enqueueController := func(obj any, add func(cache.ObjectName)) {
		deployment, ok := obj.(*appsv1.Deployment)
		if !ok {
			return
		}
		if owner := metav1.GetControllerOfNoCopy(deployment); owner != nil && isFoo(owner) {
			add(cache.NewObjectName(deployment.Namespace, owner.Name))
		}
	}
	enqueueNaming := func(obj any, add func(cache.ObjectName)) {
		key, err := cache.DeletionHandlingObjectToName(obj)
		if err != nil {
			return
		}
		for _, foo := range informer.FoosNaming(foos, key) {
			add(cache.MetaObjectToName(foo))
		}
	}
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, isInInitialList bool) {
			enqueueController(obj, adder(queue, isInInitialList))
			enqueueNaming(obj, adder(queue, isInInitialList))
		},
		UpdateFunc: func(before, after any) {
			if isResync(before, after) {
				return // The Foos' own resync is enough.
			}
			// The controller may have changed: the one that lost it must know, too.
			enqueueController(before, queue.Add)
			enqueueController(after, queue.Add)
			enqueueNaming(after, queue.Add)
		},
		DeleteFunc: func(obj any) {
			enqueueNaming(obj, queue.Add)
			// A tombstone holds the last known object, or only the key.
			if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = tombstone.Obj
			}
			enqueueController(obj, queue.Add)
		},
	}
}

// isFoo reports whether an owner reference points to a Foo, of whatever version.
func isFoo(owner *metav1.OwnerReference) bool {
	gv, err := schema.ParseGroupVersion(owner.APIVersion)
	return err == nil && gv.Group == v1alpha1.GroupName && owner.Kind == fooKind.Kind
}
