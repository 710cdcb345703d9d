package informer

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/api/examples-gzh.com/v1alpha1"
	"example.com/byhand/clientset"
)

// NewProjects returns an informer for the Projects of a namespace, or of all
// namespaces if it is "". A resync of 0 means no resync.
func NewProjects(client clientset.Interface, namespace string, resync time.Duration, handler cache.ResourceEventHandler) *Informer {
	i := &Informer{Resource: v1alpha1.Resource("projects").String()}
	listWatch := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			list, err := client.ExamplesV1alpha1().Projects(namespace).List(ctx, opts)
			return list, i.recordError(err)
		},
		WatchFuncWithContext: func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
			stream, err := client.ExamplesV1alpha1().Projects(namespace).Watch(ctx, opts)
			return stream, i.recordError(err)
		},
	}
	store, controller := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: cache.ToListWatcherWithWatchListSemantics(listWatch, client),
		ObjectType:    &v1alpha1.Project{},
		Handler:       handler,
		ResyncPeriod:  resync,
		Transform:     i.dropManagedFields,
		Indexers:      cache.Indexers{}, // nil would make a Store that is no Indexer
	})
	i.Store, i.controller = store.(cache.Indexer), controller
	return i
}
