package informer

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/clientset"
)

// NewFoos is NewProjects for Foos, with an index.
func NewFoos(client clientset.Interface, namespace string, resync time.Duration, handler cache.ResourceEventHandler) *Informer {
	listWatch := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			return client.SamplecontrollerV1alpha1().Foos(namespace).List(ctx, opts)
		},
		WatchFuncWithContext: client.SamplecontrollerV1alpha1().Foos(namespace).Watch,
	}
	return New(v1alpha1.Resource("foos"), client, listWatch, cache.InformerOptions{
		ObjectType:   &v1alpha1.Foo{},
		Handler:      handler,
		ResyncPeriod: resync,
		Indexers:     FooIndexers(),
	})
}

const byDeploymentName = "byDeploymentName"

// FooIndexers index each Foo by the Deployment that its spec names.
func FooIndexers() cache.Indexers {
	return cache.Indexers{byDeploymentName: func(obj any) ([]string, error) {
		// client-go panics if an index function returns an error.
		foo := obj.(*v1alpha1.Foo)
		return []string{cache.NewObjectName(foo.Namespace, foo.Spec.DeploymentName).String()}, nil
	}}
}

// FoosNaming returns a function that returns the keys of the Foos whose spec names the given Deployment.
func FoosNaming(foos cache.Indexer) func(deployment metav1.Object) []cache.ObjectName {
	return func(deployment metav1.Object) (keys []cache.ObjectName) {
		for _, foo := range byIndex[*v1alpha1.Foo](foos, byDeploymentName, cache.MetaObjectToName(deployment).String()) {
			keys = append(keys, cache.MetaObjectToName(foo))
		}
		return keys
	}
}
