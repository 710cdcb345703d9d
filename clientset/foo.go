package clientset

import (
	"context"
	"errors"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1/applyconfiguration"
)

// FoosGetter hands out clients for the Foos of a namespace.
type FoosGetter interface {
	// Foos returns a client for one namespace, or for all if namespace is "".
	Foos(namespace string) FooInterface
}

// FooInterface has the verbs of Foos. The package comment says what all methods have in
// common.
type FooInterface interface {
	// Create stores a new Foo and returns it as stored, with the fields that
	// the server sets (UID, resourceVersion, …). Fails with AlreadyExists, or with
	// Invalid if the schema refuses it.
	Create(ctx context.Context, foo *v1alpha1.Foo, opts metav1.CreateOptions) (*v1alpha1.Foo, error)
	// Update replaces a Foo, except for its status, which the server leaves as it
	// is. Fails with NotFound, with Conflict if foo.ResourceVersion is not the
	// newest, and with Invalid if it is empty.
	Update(ctx context.Context, foo *v1alpha1.Foo, opts metav1.UpdateOptions) (*v1alpha1.Foo, error)
	// UpdateStatus replaces the status and leaves the rest as it is. Fails as
	// Update does.
	UpdateStatus(ctx context.Context, foo *v1alpha1.Foo, opts metav1.UpdateOptions) (*v1alpha1.Foo, error)
	// Delete removes a Foo, or marks it for deletion if it has finalizers.
	// Fails with NotFound, and with Conflict if a precondition in opts is not met.
	Delete(ctx context.Context, name string, opts metav1.DeleteOptions) error
	// DeleteCollection deletes all that listOpts selects.
	DeleteCollection(ctx context.Context, opts metav1.DeleteOptions, listOpts metav1.ListOptions) error
	// Get reads a Foo. Fails with NotFound.
	Get(ctx context.Context, name string, opts metav1.GetOptions) (*v1alpha1.Foo, error)
	// List reads all that opts selects. opts.TimeoutSeconds limits the call, at the server
	// and here.
	List(ctx context.Context, opts metav1.ListOptions) (*v1alpha1.FooList, error)
	// Watch streams changes until the server ends it (after opts.TimeoutSeconds at the
	// latest), ctx is done (the last event is then an Error) or the caller calls Stop. Call
	// Stop in every case.
	Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error)
	// Patch changes a Foo, or the subresource named last, by a patch of type
	// pt. Fails with NotFound, and with Invalid if the result is refused. A strategic merge
	// patch, which merges lists item by item, is for the kinds of Kubernetes itself: for
	// this one it fails with UnsupportedMediaType.
	Patch(ctx context.Context, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (*v1alpha1.Foo, error)
	// Apply sets the fields that foo has and makes opts.FieldManager, which is required,
	// their owner. It creates the Foo if there is none. Fails with Conflict if another
	// manager owns one of the fields with another value, unless opts.Force.
	Apply(ctx context.Context, foo *applyconfiguration.FooApplyConfiguration, opts metav1.ApplyOptions) (*v1alpha1.Foo, error)
	// ApplyStatus is Apply for the status. Fails with NotFound if there is no Foo.
	ApplyStatus(ctx context.Context, foo *applyconfiguration.FooApplyConfiguration, opts metav1.ApplyOptions) (*v1alpha1.Foo, error)
	// GetScale reads the number of replicas as a Scale, which is the same for every kind
	// that can be scaled. Fails with NotFound, and with InternalError if spec.replicas is
	// nil.
	GetScale(ctx context.Context, fooName string, opts metav1.GetOptions) (*autoscalingv1.Scale, error)
	// UpdateScale sets spec.replicas and nothing else, also if it was nil. Fails as Update
	// does.
	UpdateScale(ctx context.Context, fooName string, scale *autoscalingv1.Scale, opts metav1.UpdateOptions) (*autoscalingv1.Scale, error)
}

// foos implements FooInterface for one namespace.
type foos struct {
	client    rest.Interface
	namespace string
}

// Create sends
//
//	POST /apis/samplecontroller.k8s.io/v1alpha1/namespaces/{namespace}/foos
func (c *foos) Create(ctx context.Context, foo *v1alpha1.Foo, opts metav1.CreateOptions) (*v1alpha1.Foo, error) {
	if foo == nil {
		return nil, errors.New("Create needs a Foo")
	}
	result := &v1alpha1.Foo{}
	err := c.client.Post().
		NamespaceIfScoped(c.namespace, c.namespace != "").
		Resource("foos").
		VersionedParams(&opts, ParameterCodec).
		Body(foo).
		Do(ctx).
		Into(result)
	return result, err
}

// Update sends
//
//	PUT /apis/samplecontroller.k8s.io/v1alpha1/namespaces/{namespace}/foos/{name}
func (c *foos) Update(ctx context.Context, foo *v1alpha1.Foo, opts metav1.UpdateOptions) (*v1alpha1.Foo, error) {
	if foo == nil {
		return nil, errors.New("Update needs a Foo")
	}
	result := &v1alpha1.Foo{}
	err := c.client.Put().
		NamespaceIfScoped(c.namespace, c.namespace != "").
		Resource("foos").
		Name(foo.Name).
		VersionedParams(&opts, ParameterCodec).
		Body(foo).
		Do(ctx).
		Into(result)
	return result, err
}

// UpdateStatus sends
//
//	PUT /apis/samplecontroller.k8s.io/v1alpha1/namespaces/{namespace}/foos/{name}/status
func (c *foos) UpdateStatus(ctx context.Context, foo *v1alpha1.Foo, opts metav1.UpdateOptions) (*v1alpha1.Foo, error) {
	if foo == nil {
		return nil, errors.New("UpdateStatus needs a Foo")
	}
	result := &v1alpha1.Foo{}
	err := c.client.Put().
		NamespaceIfScoped(c.namespace, c.namespace != "").
		Resource("foos").
		Name(foo.Name).
		SubResource("status").
		VersionedParams(&opts, ParameterCodec).
		Body(foo).
		Do(ctx).
		Into(result)
	return result, err
}

// Delete sends, with opts as the body,
//
//	DELETE /apis/samplecontroller.k8s.io/v1alpha1/namespaces/{namespace}/foos/{name}
func (c *foos) Delete(ctx context.Context, name string, opts metav1.DeleteOptions) error {
	return c.client.Delete().
		NamespaceIfScoped(c.namespace, c.namespace != "").
		Resource("foos").
		Name(name).
		Body(&opts).
		Do(ctx).
		Error()
}

// Get sends
//
//	GET /apis/samplecontroller.k8s.io/v1alpha1/namespaces/{namespace}/foos/{name}
func (c *foos) Get(ctx context.Context, name string, opts metav1.GetOptions) (*v1alpha1.Foo, error) {
	result := &v1alpha1.Foo{}
	err := c.client.Get().
		NamespaceIfScoped(c.namespace, c.namespace != "").
		Resource("foos").
		Name(name).
		VersionedParams(&opts, ParameterCodec).
		Do(ctx).
		Into(result)
	return result, err
}

// List sends
//
//	GET /apis/samplecontroller.k8s.io/v1alpha1/namespaces/{namespace}/foos
//	GET /apis/samplecontroller.k8s.io/v1alpha1/foos (all namespaces)
func (c *foos) List(ctx context.Context, opts metav1.ListOptions) (*v1alpha1.FooList, error) {
	result := &v1alpha1.FooList{}
	err := c.client.Get().
		NamespaceIfScoped(c.namespace, c.namespace != "").
		Resource("foos").
		VersionedParams(&opts, ParameterCodec).
		Timeout(timeoutOf(opts)).
		Do(ctx).
		Into(result)
	return result, err
}

// Watch sends
//
//	GET /apis/samplecontroller.k8s.io/v1alpha1/namespaces/{namespace}/foos?watch=true
//	GET /apis/samplecontroller.k8s.io/v1alpha1/foos?watch=true (all namespaces)
func (c *foos) Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	opts.Watch = true
	return c.client.Get().
		NamespaceIfScoped(c.namespace, c.namespace != "").
		Resource("foos").
		VersionedParams(&opts, ParameterCodec).
		Timeout(timeoutOf(opts)).
		Watch(ctx)
}
