package main

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/chapters/restaurant/v1alpha1"
	"example.com/byhand/informer"
)

// scheme is used only by this client: client-go's global one stays unchanged.
var scheme = runtime.NewScheme()

func init() { utilruntime.Must(v1alpha1.AddToScheme(scheme)) }

func newClient(config *rest.Config) (rest.Interface, error) {
	c := rest.CopyConfig(config)
	c.APIPath, c.GroupVersion = "/apis", &v1alpha1.SchemeGroupVersion
	c.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	return rest.RESTClientFor(c)
}

// newInformer keeps all Toppings in memory. It needs no handler: existing pizzas are not
// reviewed again.
func newInformer(client rest.Interface) *informer.Informer {
	listWatch := cache.NewListWatchFromClient(client, "toppings", metav1.NamespaceAll, fields.Everything())
	return informer.New(v1alpha1.SchemeGroupVersion.WithResource("toppings").GroupResource(), client, listWatch,
		cache.InformerOptions{ObjectType: &v1alpha1.Topping{}, Handler: cache.ResourceEventHandlerFuncs{}})
}

// has returns a reviewer's has function. It sends a request only for a topping that the cache lacks: the
// topping may be new.
func has(client rest.Interface, store cache.Store) func(ctx context.Context, name string) (bool, error) {
	return func(ctx context.Context, name string) (bool, error) {
		if _, exists, err := store.GetByKey(name); err != nil || exists {
			return exists, err
		}
		// No object has such a name, and a URL with it could lead elsewhere.
		if len(validation.IsDNS1123Subdomain(name)) > 0 {
			return false, nil
		}
		topping := &v1alpha1.Topping{}
		err := client.Get().Resource("toppings").Name(name).Do(ctx).Into(topping)
		switch {
		case apierrors.IsNotFound(err):
			return false, nil
		case err == nil && topping.Name != name: // a different kind decodes to an empty Topping
			return false, errors.New("the response is not this Topping")
		}
		return err == nil, err
	}
}
