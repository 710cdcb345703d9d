package fake

import (
	"context"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/gentype"
	"k8s.io/client-go/testing"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1/applyconfiguration"
	"example.com/byhand/clientset"
)

var fooResource = v1alpha1.SchemeGroupVersion.WithResource("foos")

// foos implements clientset.FooInterface for one namespace.
type foos struct {
	*gentype.FakeClientWithListAndApply[*v1alpha1.Foo, *v1alpha1.FooList, *applyconfiguration.FooApplyConfiguration]
}

// Foos implements clientset.SamplecontrollerV1alpha1Interface.
func (c *samplecontrollerV1alpha1) Foos(namespace string) clientset.FooInterface {
	return &foos{gentype.NewFakeClientWithListAndApply[*v1alpha1.Foo, *v1alpha1.FooList, *applyconfiguration.FooApplyConfiguration](
		c.fake, namespace, fooResource, v1alpha1.SchemeGroupVersion.WithKind("Foo"),
		func() *v1alpha1.Foo { return &v1alpha1.Foo{} },
		func() *v1alpha1.FooList { return &v1alpha1.FooList{} },
		func(to, from *v1alpha1.FooList) { to.ListMeta = from.ListMeta },
		func(list *v1alpha1.FooList) []*v1alpha1.Foo { return gentype.ToPointerSlice(list.Items) },
		func(list *v1alpha1.FooList, items []*v1alpha1.Foo) { list.Items = gentype.FromPointerSlice(items) },
	)}
}

func (c *foos) GetScale(_ context.Context, fooName string, opts metav1.GetOptions) (*autoscalingv1.Scale, error) {
	return receiveScale(c.Fake.Invokes(testing.NewGetSubresourceActionWithOptions(fooResource, c.Namespace(), "scale", fooName, opts), &autoscalingv1.Scale{}))
}

func (c *foos) UpdateScale(_ context.Context, fooName string, scale *autoscalingv1.Scale, opts metav1.UpdateOptions) (*autoscalingv1.Scale, error) {
	// An action carries the name in its object.
	named := scale.DeepCopy()
	named.Name = fooName
	return receiveScale(c.Fake.Invokes(testing.NewUpdateSubresourceActionWithOptions(fooResource, "scale", c.Namespace(), named, opts), &autoscalingv1.Scale{}))
}

func receiveScale(obj runtime.Object, err error) (*autoscalingv1.Scale, error) {
	if scale, ok := obj.(*autoscalingv1.Scale); ok && scale != nil {
		return scale, err
	}
	return &autoscalingv1.Scale{}, err
}
