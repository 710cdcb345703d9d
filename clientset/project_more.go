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

// ProjectMore has the verbs of Projects that the controller never sends.
type ProjectMore interface {
	// DeleteCollection deletes all that listOpts selects.
	DeleteCollection(ctx context.Context, opts metav1.DeleteOptions, listOpts metav1.ListOptions) error
	// Patch changes a Project, or the subresource named last, by a patch of type
	// pt. Fails with NotFound, and with Invalid if the result is refused. A strategic merge
	// patch, which merges lists item by item, is for the kinds of Kubernetes itself: for
	// this one it fails with UnsupportedMediaType.
	Patch(ctx context.Context, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (*v1alpha1.Project, error)
	// Apply sets the fields that project has, and creates the Project if there is none. The API server
	// notes opts.FieldManager, a name for the client that is required, as their owner. Fails
	// with Conflict if another field manager owns one of them with another value, unless
	// opts.Force.
	Apply(ctx context.Context, project *applyconfiguration.ProjectApplyConfiguration, opts metav1.ApplyOptions) (*v1alpha1.Project, error)
}

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
