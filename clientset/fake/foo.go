package fake

import (
	"k8s.io/client-go/gentype"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1/applyconfiguration"
	"example.com/byhand/clientset"
)

// Foos implements clientset.SamplecontrollerV1alpha1Interface.
func (c *samplecontrollerV1alpha1) Foos(namespace string) clientset.FooInterface {
	return newClient(gentype.NewFakeClientWithListAndApply[*v1alpha1.Foo, *v1alpha1.FooList, *applyconfiguration.FooApplyConfiguration](
		c.fake, namespace, v1alpha1.SchemeGroupVersion.WithResource("foos"), v1alpha1.SchemeGroupVersion.WithKind("Foo"),
		func() *v1alpha1.Foo { return &v1alpha1.Foo{} },
		func() *v1alpha1.FooList { return &v1alpha1.FooList{} },
		func(to, from *v1alpha1.FooList) { to.ListMeta = from.ListMeta },
		func(list *v1alpha1.FooList) []*v1alpha1.Foo { return gentype.ToPointerSlice(list.Items) },
		func(list *v1alpha1.FooList, items []*v1alpha1.Foo) { list.Items = gentype.FromPointerSlice(items) },
	))
}
