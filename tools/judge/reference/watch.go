package main

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/tools/judge/reference/bugs"
)

// newInformer lists and watches a resource into a store and calls the handler for each change.
// The Reflector inside lists again when the API server no longer has the version to
// watch from (410 Gone): only a list says what happened in between.
func newInformer[L runtime.Object](list func(context.Context, metav1.ListOptions) (L, error), watch cache.WatchFuncWithContext, of runtime.Object,
	handler cache.ResourceEventHandler, indexers cache.Indexers) (cache.Indexer, cache.Controller) {
	var store cache.Store
	listed := false
	listWatch := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			all, err := list(ctx, opts)
			if err == nil && listed && has(bugs.NoRelist) {
				// Watches on from the newest version, as if nothing had happened since.
				known := []runtime.Object{}
				for _, object := range store.List() {
					known = append(known, object.(runtime.Object))
				}
				err = meta.SetList(all, known)
			}
			listed = listed || err == nil
			return all, err
		},
		WatchFuncWithContext: watch,
	}
	store, informer := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: plainLists{listWatch},
		ObjectType:    of,
		Handler:       handler,
		ResyncPeriod:  resync,
		Indexers:      indexers,
	})
	return store.(cache.Indexer), informer
}

// plainLists says that a list is one answer, and not a stream of events, which the Reflector
// prefers. So each list passes through the function above, and none waits for the bookmark at the
// end of a stream.
type plainLists struct{ *cache.ListWatch }

// IsWatchListSemanticsUnSupported is what the Reflector asks.
func (plainLists) IsWatchListSemanticsUnSupported() bool { return !has(bugs.WaitsForever) }

// The indexes of the two stores.
const (
	byDeploymentName = "byDeploymentName"
	byController     = "byController"
)

// deploymentNameOf is what Foos are found by: the Deployment that the spec names.
func deploymentNameOf(obj any) ([]string, error) {
	foo := obj.(*unstructured.Unstructured)
	field, found, _ := unstructured.NestedFieldNoCopy(foo.Object, "spec", "deploymentName")
	name, _ := field.(string) // "" if it is none
	if found && has(bugs.AssertsTypes) {
		name = field.(string)
	}
	return []string{foo.GetNamespace() + "/" + name}, nil
}

// controllerOf is what Deployments are found by: the UID of their controller.
func controllerOf(obj any) ([]string, error) {
	owner := metav1.GetControllerOf(obj.(metav1.Object))
	if owner == nil {
		return nil, nil
	}
	return []string{string(owner.UID)}, nil
}

// enqueueFoo is called for each event of a Foo.
func (c *fooController) enqueueFoo(obj any) {
	if key, err := cache.DeletionHandlingObjectToName(obj); err == nil {
		c.queue.Add(key)
	}
}

// enqueueOwner is called for each event of a Deployment. Two kinds of Foos want to know: the
// one that controls it, and those that name it and may wait for the name.
func (c *fooController) enqueueOwner(obj any) {
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = tombstone.Obj
	}
	deployment, ok := obj.(metav1.Object)
	if !ok {
		return
	}
	if owner := metav1.GetControllerOf(deployment); owner != nil && owner.Kind == "Foo" {
		c.queue.Add(cache.NewObjectName(deployment.GetNamespace(), owner.Name))
	}
	if has(bugs.DeafToNames) {
		return
	}
	waiting, _ := c.fooStore.ByIndex(byDeploymentName, cache.MetaObjectToName(deployment).String())
	for _, foo := range waiting {
		c.enqueueFoo(foo)
	}
}
