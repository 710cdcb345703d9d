package fake

import (
	"k8s.io/client-go/gentype"
	"k8s.io/client-go/testing"

	"example.com/byhand/api/examples-gzh.com/v1alpha1"
	"example.com/byhand/api/examples-gzh.com/v1alpha1/applyconfiguration"
)

// projects implements clientset.ProjectInterface for one namespace.
type projects struct {
	*gentype.FakeClientWithListAndApply[*v1alpha1.Project, *v1alpha1.ProjectList, *applyconfiguration.ProjectApplyConfiguration]
}

func newProjects(fake *testing.Fake, namespace string) *projects {
	return &projects{gentype.NewFakeClientWithListAndApply[*v1alpha1.Project, *v1alpha1.ProjectList, *applyconfiguration.ProjectApplyConfiguration](
		fake, namespace, v1alpha1.SchemeGroupVersion.WithResource("projects"), v1alpha1.SchemeGroupVersion.WithKind("Project"),
		func() *v1alpha1.Project { return &v1alpha1.Project{} },
		func() *v1alpha1.ProjectList { return &v1alpha1.ProjectList{} },
		func(to, from *v1alpha1.ProjectList) { to.ListMeta = from.ListMeta },
		func(list *v1alpha1.ProjectList) []*v1alpha1.Project { return gentype.ToPointerSlice(list.Items) },
		func(list *v1alpha1.ProjectList, items []*v1alpha1.Project) {
			list.Items = gentype.FromPointerSlice(items)
		},
	)}
}
