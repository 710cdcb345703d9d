package main

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/chapters/restaurant/v1alpha1"
	"example.com/byhand/informer"
)

// scheme is this client's alone: client-go's global one stays as it is.
var scheme = runtime.NewScheme()

func init() { utilruntime.Must(v1alpha1.AddToScheme(scheme)) }

// Toppings is the client of Toppings, with the verbs that this program sends.
type Toppings struct{ rest rest.Interface }

// NewToppings returns a client for the server and the credentials in config.
func NewToppings(config *rest.Config) (*Toppings, error) {
	c := rest.CopyConfig(config)
	c.APIPath, c.GroupVersion = "/apis", &v1alpha1.SchemeGroupVersion
	c.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	client, err := rest.RESTClientFor(c)
	return &Toppings{client}, err
}

// Get reads a Topping. It fails with NotFound. It sends
//
//	GET /apis/restaurant.programming-kubernetes.info/v1alpha1/toppings/{name}
func (c *Toppings) Get(ctx context.Context, name string, opts metav1.GetOptions) (*v1alpha1.Topping, error) {
	result := &v1alpha1.Topping{}
	err := c.rest.Get().
		Resource("toppings").
		Name(name).
		VersionedParams(&opts, metav1.ParameterCodec).
		Do(ctx).
		Into(result)
	return result, err
}

// List reads all that opts selects. It sends
//
//	GET /apis/restaurant.programming-kubernetes.info/v1alpha1/toppings
func (c *Toppings) List(ctx context.Context, opts metav1.ListOptions) (*v1alpha1.ToppingList, error) {
	result := &v1alpha1.ToppingList{}
	err := c.rest.Get().
		Resource("toppings").
		VersionedParams(&opts, metav1.ParameterCodec).
		Do(ctx).
		Into(result)
	return result, err
}

// Watch streams changes until the server ends it or ctx is done. It sends
//
//	GET /apis/restaurant.programming-kubernetes.info/v1alpha1/toppings?watch=true
func (c *Toppings) Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	opts.Watch = true
	return c.rest.Get().
		Resource("toppings").
		VersionedParams(&opts, metav1.ParameterCodec).
		Watch(ctx)
}

// newInformer keeps all Toppings in memory. Nothing happens when one changes: pizzas that
// exist are not asked about again.
func newInformer(client *Toppings) *informer.Informer {
	listWatch := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			return client.List(ctx, opts)
		},
		WatchFuncWithContext: func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
			return client.Watch(ctx, opts)
		},
	}
	return informer.New(v1alpha1.SchemeGroupVersion.WithResource("toppings").GroupResource(), client, listWatch,
		cache.InformerOptions{ObjectType: &v1alpha1.Topping{}, Handler: cache.ResourceEventHandlerFuncs{}})
}

// has returns what a reviewer asks. A review costs no request, except for a topping that
// the cache does not have: it may be new. A review ends at the first one that does not
// exist, so that is one request at most for each name that does not exist.
func has(client *Toppings, store cache.Store) func(ctx context.Context, name string) (bool, error) {
	return func(ctx context.Context, name string) (bool, error) {
		if _, exists, err := store.GetByKey(name); err != nil || exists {
			return exists, err
		}
		// No object has such a name, and a path with it could be that of something else.
		if len(validation.IsDNS1123Subdomain(name)) > 0 {
			return false, nil
		}
		topping, err := client.Get(ctx, name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			return false, nil
		case err == nil && topping.Name != name: // Another kind is decoded to an empty Topping.
			return false, errors.New("the answer is no such Topping")
		}
		return err == nil, err
	}
}
