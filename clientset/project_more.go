package clientset

import (
	"context"
	"encoding/json"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/byhand/api/examples-gzh.com/v1alpha1"
	"example.com/byhand/api/examples-gzh.com/v1alpha1/applyconfiguration"
)

// DeleteCollection sends, with opts as the body and listOpts in the query,
//
//	DELETE /apis/examples-gzh.com/v1alpha1/namespaces/{namespace}/projects
func (c *projects) DeleteCollection(ctx context.Context, opts metav1.DeleteOptions, listOpts metav1.ListOptions) error {
	return c.client.Delete().
		NamespaceIfScoped(c.namespace, c.namespace != "").
		Resource("projects").
		VersionedParams(&listOpts, ParameterCodec).
		Timeout(timeoutOf(listOpts)).
		Body(&opts).
		Do(ctx).
		Error()
}

// Patch sends, with the patch's type as the content type,
//
//	PATCH /apis/examples-gzh.com/v1alpha1/namespaces/{namespace}/projects/{name}[/{subresource}]
func (c *projects) Patch(ctx context.Context, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (*v1alpha1.Project, error) {
	result := &v1alpha1.Project{}
	err := c.client.Patch(pt).
		NamespaceIfScoped(c.namespace, c.namespace != "").
		Resource("projects").
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
//	PATCH /apis/examples-gzh.com/v1alpha1/namespaces/{namespace}/projects/{name}
func (c *projects) Apply(ctx context.Context, project *applyconfiguration.ProjectApplyConfiguration, opts metav1.ApplyOptions) (*v1alpha1.Project, error) {
	if project == nil || project.GetName() == nil {
		return nil, errors.New("Apply needs a Project with a name")
	}
	data, err := json.Marshal(project)
	if err != nil {
		return nil, err
	}
	return c.Patch(ctx, *project.GetName(), types.ApplyPatchType, data, opts.ToPatchOptions())
}
