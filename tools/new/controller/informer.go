package main

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/controller"
	"example.com/byhand/informer"
)

// resync is how often each Widget is reconciled without an event.
const resync = 10 * time.Minute

// newInformers returns the informers of Widgets and of their ConfigMaps, of a namespace or of all
// if it is "". An event of either adds the key of the Widget: of what did not change, behind what
// did.
func newInformers(client *Client, kube kubernetes.Interface, namespace string, queue controller.Queue) (widgets, configMaps *informer.Informer) {
	widgets = informer.New(groupVersion.WithResource(resource).GroupResource(), client, &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			return client.List(ctx, namespace, opts)
		},
		WatchFuncWithContext: func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
			return client.Watch(ctx, namespace, opts)
		},
	}, cache.InformerOptions{ObjectType: &Widget{}, ResyncPeriod: resync,
		Handler: controller.EnqueueObject(queue)})

	// Only those with our label: a cluster may have 100,000 ConfigMaps.
	ours := cache.NewFilteredListWatchFromClient(kube.CoreV1().RESTClient(), "configmaps", namespace, func(opts *metav1.ListOptions) { opts.LabelSelector = label })
	configMaps = informer.New(corev1.Resource("configmaps"), kube, ours, cache.InformerOptions{ObjectType: &corev1.ConfigMap{},
		Handler: controller.EnqueueOwner(queue, kind.GroupKind())})
	return widgets, configMaps
}
