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
		Transform:    dropUnread,
	})
}

// dropUnread is the transform of Foos. Nothing here reads their annotations, such as kubectl's
// last-applied-configuration, their labels, finalizers and owners, and with up to a MiB of them in
// each Foo one user could fill the memory of all. The controller writes only the status of a Foo, and
// the API server takes nothing else of such a PUT: they stay there (k8s.io/apiextensions-apiserver,
// pkg/registry/customresource/status_strategy.go, PrepareForUpdate). A mutating webhook for
// foos/status is asked before that, and sees a Foo without them. Deployments keep theirs: an update
// sends the whole Deployment.
func dropUnread(obj any) (any, error) {
	if foo, ok := obj.(*v1alpha1.Foo); ok {
		foo.Annotations, foo.Labels, foo.Finalizers, foo.OwnerReferences = nil, nil, nil, nil
	}
	return dropManagedFields(obj)
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

// FoosNaming returns the keys of the Foos whose spec names this Deployment.
func FoosNaming(foos cache.Indexer, deployment cache.ObjectName) (keys []cache.ObjectName) {
	for _, foo := range byIndex[*v1alpha1.Foo](foos, byDeploymentName, deployment.String()) {
		keys = append(keys, cache.MetaObjectToName(foo))
	}
	return keys
}
