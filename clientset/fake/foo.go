package fake

import (
	"context"
	"encoding/json"
	"errors"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
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
	fake      *testing.Fake
	namespace string
}

// receiveFoo unpacks what the reactors returned: the object, or an empty one beside
// an error.
func receiveFoo(obj runtime.Object, err error) (*v1alpha1.Foo, error) {
	if foo, ok := obj.(*v1alpha1.Foo); ok && foo != nil {
		return foo, err
	}
	return &v1alpha1.Foo{}, err
}

func (c *foos) Create(_ context.Context, foo *v1alpha1.Foo, opts metav1.CreateOptions) (*v1alpha1.Foo, error) {
	if foo == nil {
		return nil, errors.New("Create needs a Foo")
	}
	return receiveFoo(c.fake.Invokes(testing.NewCreateActionWithOptions(fooResource, c.namespace, foo, opts), &v1alpha1.Foo{}))
}

func (c *foos) Update(_ context.Context, foo *v1alpha1.Foo, opts metav1.UpdateOptions) (*v1alpha1.Foo, error) {
	if foo == nil {
		return nil, errors.New("Update needs a Foo")
	}
	return receiveFoo(c.fake.Invokes(testing.NewUpdateActionWithOptions(fooResource, c.namespace, foo, opts), &v1alpha1.Foo{}))
}

func (c *foos) UpdateStatus(_ context.Context, foo *v1alpha1.Foo, opts metav1.UpdateOptions) (*v1alpha1.Foo, error) {
	if foo == nil {
		return nil, errors.New("UpdateStatus needs a Foo")
	}
	return receiveFoo(c.fake.Invokes(testing.NewUpdateSubresourceActionWithOptions(fooResource, "status", c.namespace, foo, opts), &v1alpha1.Foo{}))
}

func (c *foos) Delete(_ context.Context, name string, opts metav1.DeleteOptions) error {
	_, err := c.fake.Invokes(testing.NewDeleteActionWithOptions(fooResource, c.namespace, name, opts), &v1alpha1.Foo{})
	return err
}

func (c *foos) DeleteCollection(_ context.Context, opts metav1.DeleteOptions, listOpts metav1.ListOptions) error {
	_, err := c.fake.Invokes(testing.NewDeleteCollectionActionWithOptions(fooResource, c.namespace, opts, listOpts), &v1alpha1.FooList{})
	return err
}

func (c *foos) Get(_ context.Context, name string, opts metav1.GetOptions) (*v1alpha1.Foo, error) {
	return receiveFoo(c.fake.Invokes(testing.NewGetActionWithOptions(fooResource, c.namespace, name, opts), &v1alpha1.Foo{}))
}

func (c *foos) List(_ context.Context, opts metav1.ListOptions) (*v1alpha1.FooList, error) {
	obj, err := c.fake.Invokes(testing.NewListActionWithOptions(fooResource, fooKind, c.namespace, opts), &v1alpha1.FooList{})
	all, ok := obj.(*v1alpha1.FooList)
	if !ok || all == nil {
		return &v1alpha1.FooList{}, err
	}
	// The tracker returns everything in the namespace.
	selector, _, _ := testing.ExtractFromListOptions(opts)
	selected := &v1alpha1.FooList{ListMeta: all.ListMeta}
	for _, foo := range all.Items {
		if selector.Matches(labels.Set(foo.Labels)) {
			selected.Items = append(selected.Items, foo)
		}
	}
	return selected, err
}

func (c *foos) Watch(_ context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	opts.Watch = true
	return c.fake.InvokesWatch(testing.NewWatchActionWithOptions(fooResource, c.namespace, opts))
}

func (c *foos) Patch(_ context.Context, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (*v1alpha1.Foo, error) {
	return receiveFoo(c.fake.Invokes(testing.NewPatchSubresourceActionWithOptions(fooResource, c.namespace, name, pt, data, opts, subresources...), &v1alpha1.Foo{}))
}

func (c *foos) Apply(ctx context.Context, foo *applyconfiguration.FooApplyConfiguration, opts metav1.ApplyOptions) (*v1alpha1.Foo, error) {
	if foo == nil || foo.GetName() == nil {
		return nil, errors.New("Apply needs a Foo with a name")
	}
	data, err := json.Marshal(foo)
	if err != nil {
		return nil, err
	}
	return c.Patch(ctx, *foo.GetName(), types.ApplyPatchType, data, opts.ToPatchOptions())
}

func (c *foos) ApplyStatus(ctx context.Context, foo *applyconfiguration.FooApplyConfiguration, opts metav1.ApplyOptions) (*v1alpha1.Foo, error) {
	if foo == nil || foo.GetName() == nil {
		return nil, errors.New("ApplyStatus needs a Foo with a name")
	}
	data, err := json.Marshal(foo)
	if err != nil {
		return nil, err
	}
	return c.Patch(ctx, *foo.GetName(), types.ApplyPatchType, data, opts.ToPatchOptions(), "status")
}

func (c *foos) GetScale(_ context.Context, fooName string, opts metav1.GetOptions) (*autoscalingv1.Scale, error) {
	return receiveScale(c.fake.Invokes(testing.NewGetSubresourceActionWithOptions(fooResource, c.namespace, "scale", fooName, opts), &autoscalingv1.Scale{}))
}

func (c *foos) UpdateScale(_ context.Context, fooName string, scale *autoscalingv1.Scale, opts metav1.UpdateOptions) (*autoscalingv1.Scale, error) {
	if scale == nil {
		return nil, errors.New("UpdateScale needs a Scale")
	}
	// An action carries the name in its object.
	named := scale.DeepCopy()
	named.Name = fooName
	return receiveScale(c.fake.Invokes(testing.NewUpdateSubresourceActionWithOptions(fooResource, "scale", c.namespace, named, opts), &autoscalingv1.Scale{}))
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
