package clientset

import (
	"context"
	"encoding/json"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1/applyconfiguration"
)

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
