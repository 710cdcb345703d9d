package clientset

import (
	"context"
	"encoding/json"
	"errors"

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

// FooInterface has the verbs of Foos. ProjectInterface documents the methods that both have.
type FooInterface interface {
	Create(ctx context.Context, foo *v1alpha1.Foo, opts metav1.CreateOptions) (*v1alpha1.Foo, error)
	// Update does not change the status.
	Update(ctx context.Context, foo *v1alpha1.Foo, opts metav1.UpdateOptions) (*v1alpha1.Foo, error)
	// UpdateStatus changes only the status. Fails as Update does.
	UpdateStatus(ctx context.Context, foo *v1alpha1.Foo, opts metav1.UpdateOptions) (*v1alpha1.Foo, error)
	Delete(ctx context.Context, name string, opts metav1.DeleteOptions) error
	Get(ctx context.Context, name string, opts metav1.GetOptions) (*v1alpha1.Foo, error)
	List(ctx context.Context, opts metav1.ListOptions) (*v1alpha1.FooList, error)
	Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error)

	// The controller never uses the methods below.

	DeleteCollection(ctx context.Context, opts metav1.DeleteOptions, listOpts metav1.ListOptions) error
	Patch(ctx context.Context, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (*v1alpha1.Foo, error)
	Apply(ctx context.Context, foo *applyconfiguration.FooApplyConfiguration, opts metav1.ApplyOptions) (*v1alpha1.Foo, error)
	// ApplyStatus is Apply for the status. Fails with NotFound if there is no Foo.
	ApplyStatus(ctx context.Context, foo *applyconfiguration.FooApplyConfiguration, opts metav1.ApplyOptions) (*v1alpha1.Foo, error)
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

// DeleteCollection sends, with opts as the body and listOpts in the query,
//
//	DELETE /apis/samplecontroller.k8s.io/v1alpha1/namespaces/{namespace}/foos
func (c *foos) DeleteCollection(ctx context.Context, opts metav1.DeleteOptions, listOpts metav1.ListOptions) error {
	return c.client.Delete().
		NamespaceIfScoped(c.namespace, c.namespace != "").
		Resource("foos").
		VersionedParams(&listOpts, ParameterCodec).
		Timeout(timeoutOf(listOpts)).
		Body(&opts).
		Do(ctx).
		Error()
}

// Patch sends, with the patch's type as the content type,
//
//	PATCH /apis/samplecontroller.k8s.io/v1alpha1/namespaces/{namespace}/foos/{name}[/{subresource}]
func (c *foos) Patch(ctx context.Context, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (*v1alpha1.Foo, error) {
	result := &v1alpha1.Foo{}
	err := c.client.Patch(pt).
		NamespaceIfScoped(c.namespace, c.namespace != "").
		Resource("foos").
		Name(name).
		SubResource(subresources...).
		VersionedParams(&opts, ParameterCodec).
		Body(data).
		Do(ctx).
		Into(result)
	return result, err
}

// Apply sends, as application/apply-patch+yaml (JSON is YAML),
//
//	PATCH /apis/samplecontroller.k8s.io/v1alpha1/namespaces/{namespace}/foos/{name}
func (c *foos) Apply(ctx context.Context, foo *applyconfiguration.FooApplyConfiguration, opts metav1.ApplyOptions) (*v1alpha1.Foo, error) {
	return c.apply(ctx, foo, opts)
}

// ApplyStatus sends, as application/apply-patch+yaml,
//
//	PATCH /apis/samplecontroller.k8s.io/v1alpha1/namespaces/{namespace}/foos/{name}/status
func (c *foos) ApplyStatus(ctx context.Context, foo *applyconfiguration.FooApplyConfiguration, opts metav1.ApplyOptions) (*v1alpha1.Foo, error) {
	return c.apply(ctx, foo, opts, "status")
}

func (c *foos) apply(ctx context.Context, foo *applyconfiguration.FooApplyConfiguration, opts metav1.ApplyOptions, subresources ...string) (*v1alpha1.Foo, error) {
	if foo == nil || foo.Name == nil {
		return nil, errors.New("Apply needs a Foo with a name")
	}
	data, err := json.Marshal(foo)
	if err != nil {
		return nil, err
	}
	return c.Patch(ctx, *foo.Name, types.ApplyPatchType, data, opts.ToPatchOptions(), subresources...)
}
