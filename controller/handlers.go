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
	enqueue := func(obj any) {
		// Also understands a tombstone, the record of a deletion that was missed.
		if key, err := cache.DeletionHandlingObjectToName(obj); err == nil {
			queue.Add(key)
		}
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    enqueue,
		UpdateFunc: func(_, obj any) { enqueue(obj) },
		DeleteFunc: enqueue,
	}
}

// EnqueueFoosOfDeployment returns the handler of the Deployment informer: it
// enqueues the Foo that controls the Deployment, and those in the store foos that
// name it and may have waited for this change.
func EnqueueFoosOfDeployment(queue Queue, foos cache.Indexer) cache.ResourceEventHandler {
	enqueueController := func(obj any) {
		deployment, ok := obj.(*appsv1.Deployment)
		if !ok {
			return
		}
		if owner := metav1.GetControllerOfNoCopy(deployment); owner != nil && isFoo(owner) {
			queue.Add(cache.NewObjectName(deployment.Namespace, owner.Name))
		}
	}
	enqueueNaming := func(obj any) {
		key, err := cache.DeletionHandlingObjectToName(obj)
		if err != nil {
			return
		}
		for _, foo := range informer.FoosNaming(foos, key) {
			queue.Add(cache.MetaObjectToName(foo))
		}
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) {
			enqueueController(obj)
			enqueueNaming(obj)
		},
		UpdateFunc: func(before, after any) {
			// The same version again is a resync. The Foos' own resync is enough.
			if before.(*appsv1.Deployment).ResourceVersion == after.(*appsv1.Deployment).ResourceVersion {
				return
			}
			// The controller may have changed: the one that lost it must know, too.
			enqueueController(before)
			enqueueController(after)
			enqueueNaming(after)
		},
		DeleteFunc: func(obj any) {
			enqueueNaming(obj)
			// A tombstone holds the last known object, or only the key.
			if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = tombstone.Obj
			}
			enqueueController(obj)
		},
	}
}

// isFoo reports whether an owner reference points to a Foo, of whatever version.
func isFoo(owner *metav1.OwnerReference) bool {
	gv, err := schema.ParseGroupVersion(owner.APIVersion)
	return err == nil && gv.Group == v1alpha1.GroupName && owner.Kind == fooKind.Kind
}
