package clientset

import (
	"context"
	"encoding/json"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"

	"example.com/byhand/api/examples-gzh.com/v1alpha1"
	"example.com/byhand/api/examples-gzh.com/v1alpha1/applyconfiguration"
)

// ProjectsGetter hands out clients for the Projects of a namespace.
type ProjectsGetter interface {
	// Projects returns a client for one namespace, or for all if namespace is "".
	Projects(namespace string) ProjectInterface
}

// ProjectInterface has the verbs of Projects. doc.go describes what all methods have in common.
type ProjectInterface interface {
	// Create stores a new Project and returns it as stored, with the fields that
	// the server sets (UID, resourceVersion, …). Fails with AlreadyExists, or with
	// Invalid if the schema rejects it.
	Create(ctx context.Context, project *v1alpha1.Project, opts metav1.CreateOptions) (*v1alpha1.Project, error)
	// Update replaces a Project. Fails with NotFound, with Conflict if
	// project.ResourceVersion is not the newest, and with Invalid if it is empty.
	Update(ctx context.Context, project *v1alpha1.Project, opts metav1.UpdateOptions) (*v1alpha1.Project, error)
	// Delete removes a Project, or marks it for deletion if it has finalizers.
	// Fails with NotFound, and with Conflict if a precondition in opts is not met.
	Delete(ctx context.Context, name string, opts metav1.DeleteOptions) error
	// Get reads a Project. Fails with NotFound.
	Get(ctx context.Context, name string, opts metav1.GetOptions) (*v1alpha1.Project, error)
	// List returns the Projects that opts selects. opts.TimeoutSeconds limits the call, in
	// the server and in the client.
	List(ctx context.Context, opts metav1.ListOptions) (*v1alpha1.ProjectList, error)
	// Watch streams changes. It ends when the server closes it (at the latest after
	// opts.TimeoutSeconds), when ctx is done, or after Stop. If ctx was canceled, the last event
	// is an Error. Always call Stop.
	Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error)

	// The controller never uses the methods below.

	// DeleteCollection deletes the Projects that listOpts selects.
	DeleteCollection(ctx context.Context, opts metav1.DeleteOptions, listOpts metav1.ListOptions) error
	// Patch changes a Project, or the subresource in the last argument, with a patch of type
	// pt. Fails with NotFound, and with Invalid if the schema rejects the result. A strategic
	// merge patch, which merges lists item by item, works only for built-in kinds; for a custom
	// resource it fails with UnsupportedMediaType.
	Patch(ctx context.Context, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (*v1alpha1.Project, error)
	// Apply sets the fields in project, and creates the Project if it does not exist. The API
	// server records opts.FieldManager (required) as the owner of these fields. Apply fails with
	// Conflict if another field manager owns a field with a different value, unless opts.Force
	// is set.
	Apply(ctx context.Context, project *applyconfiguration.ProjectApplyConfiguration, opts metav1.ApplyOptions) (*v1alpha1.Project, error)
}

// projects implements ProjectInterface for one namespace.
type projects struct {
	client    rest.Interface
	namespace string
}

// Create sends
//
//	POST /apis/examples-gzh.com/v1alpha1/namespaces/{namespace}/projects
func (c *projects) Create(ctx context.Context, project *v1alpha1.Project, opts metav1.CreateOptions) (*v1alpha1.Project, error) {
	if project == nil {
		return nil, errors.New("Create needs a Project")
	}
	result := &v1alpha1.Project{}
	err := c.client.Post().
		NamespaceIfScoped(c.namespace, c.namespace != "").
		Resource("projects").
		VersionedParams(&opts, ParameterCodec).
		Body(project).
		Do(ctx).
		Into(result)
	return result, err
}

// Update sends
//
//	PUT /apis/examples-gzh.com/v1alpha1/namespaces/{namespace}/projects/{name}
func (c *projects) Update(ctx context.Context, project *v1alpha1.Project, opts metav1.UpdateOptions) (*v1alpha1.Project, error) {
	if project == nil {
		return nil, errors.New("Update needs a Project")
	}
	result := &v1alpha1.Project{}
	err := c.client.Put().
		NamespaceIfScoped(c.namespace, c.namespace != "").
		Resource("projects").
		Name(project.Name).
		VersionedParams(&opts, ParameterCodec).
		Body(project).
		Do(ctx).
		Into(result)
	return result, err
}

// Delete sends, with opts as the body,
//
//	DELETE /apis/examples-gzh.com/v1alpha1/namespaces/{namespace}/projects/{name}
func (c *projects) Delete(ctx context.Context, name string, opts metav1.DeleteOptions) error {
	return c.client.Delete().
		NamespaceIfScoped(c.namespace, c.namespace != "").
		Resource("projects").
		Name(name).
		Body(&opts).
		Do(ctx).
		Error()
}

// Get sends
//
//	GET /apis/examples-gzh.com/v1alpha1/namespaces/{namespace}/projects/{name}
func (c *projects) Get(ctx context.Context, name string, opts metav1.GetOptions) (*v1alpha1.Project, error) {
	result := &v1alpha1.Project{}
	err := c.client.Get().
		NamespaceIfScoped(c.namespace, c.namespace != "").
		Resource("projects").
		Name(name).
		VersionedParams(&opts, ParameterCodec).
		Do(ctx).
		Into(result)
	return result, err
}

// List sends
//
//	GET /apis/examples-gzh.com/v1alpha1/namespaces/{namespace}/projects
//	GET /apis/examples-gzh.com/v1alpha1/projects (all namespaces)
func (c *projects) List(ctx context.Context, opts metav1.ListOptions) (*v1alpha1.ProjectList, error) {
	result := &v1alpha1.ProjectList{}
	err := c.client.Get().
		NamespaceIfScoped(c.namespace, c.namespace != "").
		Resource("projects").
		VersionedParams(&opts, ParameterCodec).
		Timeout(timeoutOf(opts)).
		Do(ctx).
		Into(result)
	return result, err
}

// Watch sends
//
//	GET /apis/examples-gzh.com/v1alpha1/namespaces/{namespace}/projects?watch=true
//	GET /apis/examples-gzh.com/v1alpha1/projects?watch=true (all namespaces)
func (c *projects) Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	opts.Watch = true
	return c.client.Get().
		NamespaceIfScoped(c.namespace, c.namespace != "").
		Resource("projects").
		VersionedParams(&opts, ParameterCodec).
		Timeout(timeoutOf(opts)).
		Watch(ctx)
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
