package fake

import (
	"context"
	"errors"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/gentype"
	"k8s.io/client-go/testing"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1/applyconfiguration"
)

var (
	fooResource = v1alpha1.SchemeGroupVersion.WithResource("foos")
	fooKind     = v1alpha1.SchemeGroupVersion.WithKind("Foo")
)

// foos implements clientset.FooInterface for one namespace.
type foos struct {
	*gentype.FakeClientWithListAndApply[*v1alpha1.Foo, *v1alpha1.FooList, *applyconfiguration.FooApplyConfiguration]
}

func newFoos(fake *testing.Fake, namespace string) *foos {
	return &foos{gentype.NewFakeClientWithListAndApply[*v1alpha1.Foo, *v1alpha1.FooList, *applyconfiguration.FooApplyConfiguration](
		fake, namespace, fooResource, fooKind,
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

// scale shows a Foo as a Scale, and writes a Scale into its Foo, as an API server
// does with the paths in the CRD.
func (c *Clientset) scale(action testing.Action) (bool, runtime.Object, error) {
	var name string
	var update *autoscalingv1.Scale
	switch action := action.(type) {
	case testing.GetAction:
		name = action.GetName()
	case testing.UpdateAction:
		update = action.GetObject().(*autoscalingv1.Scale)
		name = update.Name
	default:
		return false, nil, nil
	}
	stored, err := c.tracker.Get(fooResource, action.GetNamespace(), name)
	if err != nil {
		return true, nil, err
	}
	foo := stored.(*v1alpha1.Foo).DeepCopy()
	if update != nil {
		foo.Spec.Replicas = new(update.Spec.Replicas)
		if err := c.tracker.Update(fooResource, foo, foo.Namespace); err != nil {
			return true, nil, err
		}
	}
	// An API server fails to show a scale without a number. It does accept one.
	if foo.Spec.Replicas == nil {
		return true, nil, apierrors.NewInternalError(errors.New(`the spec replicas field ".spec.replicas" does not exist`))
	}
	return true, &autoscalingv1.Scale{
		ObjectMeta: metav1.ObjectMeta{Namespace: foo.Namespace, Name: name},
		Spec:       autoscalingv1.ScaleSpec{Replicas: *foo.Spec.Replicas},
		Status:     autoscalingv1.ScaleStatus{Replicas: foo.Status.Replicas, Selector: foo.Status.Selector},
	}, nil
}
