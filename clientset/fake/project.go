package fake

import (
	"context"
	"encoding/json"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/testing"

	"example.com/byhand/api/examples-gzh.com/v1alpha1"
	"example.com/byhand/api/examples-gzh.com/v1alpha1/applyconfiguration"
)

var (
	projectResource = v1alpha1.SchemeGroupVersion.WithResource("projects")
	projectKind     = v1alpha1.SchemeGroupVersion.WithKind("Project")
)

// projects implements clientset.ProjectInterface for one namespace.
type projects struct {
	fake      *testing.Fake
	namespace string
}

// receiveProject unpacks what the reactors returned: the object, or an empty one beside
// an error.
func receiveProject(obj runtime.Object, err error) (*v1alpha1.Project, error) {
	if project, ok := obj.(*v1alpha1.Project); ok && project != nil {
		return project, err
	}
	return &v1alpha1.Project{}, err
}

func (c *projects) Create(_ context.Context, project *v1alpha1.Project, opts metav1.CreateOptions) (*v1alpha1.Project, error) {
	if project == nil {
		return nil, errors.New("Create needs a Project")
	}
	return receiveProject(c.fake.Invokes(testing.NewCreateActionWithOptions(projectResource, c.namespace, project, opts), &v1alpha1.Project{}))
}

func (c *projects) Update(_ context.Context, project *v1alpha1.Project, opts metav1.UpdateOptions) (*v1alpha1.Project, error) {
	if project == nil {
		return nil, errors.New("Update needs a Project")
	}
	return receiveProject(c.fake.Invokes(testing.NewUpdateActionWithOptions(projectResource, c.namespace, project, opts), &v1alpha1.Project{}))
}

func (c *projects) Delete(_ context.Context, name string, opts metav1.DeleteOptions) error {
	_, err := c.fake.Invokes(testing.NewDeleteActionWithOptions(projectResource, c.namespace, name, opts), &v1alpha1.Project{})
	return err
}

func (c *projects) DeleteCollection(_ context.Context, opts metav1.DeleteOptions, listOpts metav1.ListOptions) error {
	_, err := c.fake.Invokes(testing.NewDeleteCollectionActionWithOptions(projectResource, c.namespace, opts, listOpts), &v1alpha1.ProjectList{})
	return err
}

func (c *projects) Get(_ context.Context, name string, opts metav1.GetOptions) (*v1alpha1.Project, error) {
	return receiveProject(c.fake.Invokes(testing.NewGetActionWithOptions(projectResource, c.namespace, name, opts), &v1alpha1.Project{}))
}

func (c *projects) List(_ context.Context, opts metav1.ListOptions) (*v1alpha1.ProjectList, error) {
	obj, err := c.fake.Invokes(testing.NewListActionWithOptions(projectResource, projectKind, c.namespace, opts), &v1alpha1.ProjectList{})
	all, ok := obj.(*v1alpha1.ProjectList)
	if !ok || all == nil {
		return &v1alpha1.ProjectList{}, err
	}
	// The tracker returns everything in the namespace.
	selector, _, _ := testing.ExtractFromListOptions(opts)
	selected := &v1alpha1.ProjectList{ListMeta: all.ListMeta}
	for _, project := range all.Items {
		if selector.Matches(labels.Set(project.Labels)) {
			selected.Items = append(selected.Items, project)
		}
	}
	return selected, err
}

func (c *projects) Watch(_ context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	opts.Watch = true
	return c.fake.InvokesWatch(testing.NewWatchActionWithOptions(projectResource, c.namespace, opts))
}

func (c *projects) Patch(_ context.Context, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (*v1alpha1.Project, error) {
	return receiveProject(c.fake.Invokes(testing.NewPatchSubresourceActionWithOptions(projectResource, c.namespace, name, pt, data, opts, subresources...), &v1alpha1.Project{}))
}

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
