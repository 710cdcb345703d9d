package main

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/controller"
	"example.com/byhand/informer"
)

// resync is how often each Widget is reconciled without an event.
const resync = 10 * time.Minute

// newWidgetInformer returns the informer of Widgets in a namespace, or in all if it is "". Each event enqueues
// the key of the Widget. A resync enqueues it behind the changes.
func newWidgetInformer(client *Client, namespace string, queue controller.Queue) *informer.Informer {
	listWatch := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			return client.List(ctx, namespace, opts)
		},
		WatchFuncWithContext: func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
			return client.Watch(ctx, namespace, opts)
		},
	}
	return informer.New(groupVersion.WithResource(resource).GroupResource(), client, listWatch, cache.InformerOptions{
		ObjectType: &Widget{}, ResyncPeriod: resync, Handler: controller.EnqueueObject(queue)})
}

// newOwnedInformer returns the informer of a built-in kind that Widgets own. object is of its Go type. Each event
// enqueues the key of the Widget that the owner reference names.
func newOwnedInformer(client rest.Interface, resource schema.GroupResource, object runtime.Object, namespace string, queue controller.Queue) *informer.Informer {
	// Only objects with our label: a cluster may have 100,000 ConfigMaps.
	ours := cache.NewFilteredListWatchFromClient(client, resource.Resource, namespace, func(opts *metav1.ListOptions) { opts.LabelSelector = label })
	return informer.New(resource, client, ours, cache.InformerOptions{ObjectType: object, Handler: controller.EnqueueOwner(queue, kind.GroupKind())})
}
