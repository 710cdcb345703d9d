package informer

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/api/examples-gzh.com/v1alpha1"
	"example.com/byhand/clientset"
)

// NewProjects returns an informer for the Projects of a namespace, or of all
// namespaces if it is "". A resync of 0 means no resync.
func NewProjects(client clientset.Interface, namespace string, resync time.Duration, handler cache.ResourceEventHandler) *Informer {
	listWatch := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			return client.ExamplesV1alpha1().Projects(namespace).List(ctx, opts)
		},
		WatchFuncWithContext: client.ExamplesV1alpha1().Projects(namespace).Watch,
	}
	return New(v1alpha1.Resource("projects"), client, listWatch, cache.InformerOptions{
		ObjectType:   &v1alpha1.Project{},
		Handler:      handler,
		ResyncPeriod: resync,
	})
}
