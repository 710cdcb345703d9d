package fake

import (
	"k8s.io/client-go/gentype"

	"example.com/byhand/api/examples-gzh.com/v1alpha1"
	"example.com/byhand/api/examples-gzh.com/v1alpha1/applyconfiguration"
	"example.com/byhand/clientset"
)

// Projects implements clientset.ExamplesV1alpha1Interface.
func (c *examplesV1alpha1) Projects(namespace string) clientset.ProjectInterface {
	return newClient(gentype.NewFakeClientWithListAndApply[*v1alpha1.Project, *v1alpha1.ProjectList, *applyconfiguration.ProjectApplyConfiguration](
		c.fake, namespace, v1alpha1.SchemeGroupVersion.WithResource("projects"), v1alpha1.SchemeGroupVersion.WithKind("Project"),
		func() *v1alpha1.Project { return &v1alpha1.Project{} },
		func() *v1alpha1.ProjectList { return &v1alpha1.ProjectList{} },
		func(to, from *v1alpha1.ProjectList) { to.ListMeta = from.ListMeta },
		func(list *v1alpha1.ProjectList) []*v1alpha1.Project { return gentype.ToPointerSlice(list.Items) },
		func(list *v1alpha1.ProjectList, items []*v1alpha1.Project) {
			list.Items = gentype.FromPointerSlice(items)
		},
	))
}
