package fake

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/gentype"
	"k8s.io/client-go/testing"
)

type (
	object interface {
		runtime.Object
		metav1.Object
	}
	configuration interface {
		comparable
		GetName() *string
	}
)

// client returns an error for an invalid selector, where gentype's client panics.
type client[T object, L runtime.Object, C configuration] struct {
	*gentype.FakeClientWithListAndApply[T, L, C]
}

func newClient[T object, L runtime.Object, C configuration](c *gentype.FakeClientWithListAndApply[T, L, C]) client[T, L, C] {
	return client[T, L, C]{c}
}

func (c client[T, L, C]) List(ctx context.Context, opts metav1.ListOptions) (list L, err error) {
	if err := validateSelectors(opts); err != nil {
		return list, err
	}
	return c.FakeClientWithListAndApply.List(ctx, opts)
}

func (c client[T, L, C]) Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	if err := validateSelectors(opts); err != nil {
		return nil, err
	}
	return c.FakeClientWithListAndApply.Watch(ctx, opts)
}

func (c client[T, L, C]) DeleteCollection(ctx context.Context, opts metav1.DeleteOptions, listOpts metav1.ListOptions) error {
	if err := validateSelectors(listOpts); err != nil {
		return err
	}
	return c.FakeClientWithListAndApply.DeleteCollection(ctx, opts, listOpts)
}

func validateSelectors(opts metav1.ListOptions) error {
	_, label := labels.Parse(opts.LabelSelector)
	_, field := fields.ParseSelector(opts.FieldSelector)
	if err := errors.Join(label, field); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	return nil
}

// prepare does what an API server does, and the tracker does not: it generates names, rejects empty ones, and
// checks the preconditions of a Delete.
func prepare(tracker testing.ObjectTracker, action testing.Action) error {
	switch a := action.(type) {
	case testing.CreateActionImpl:
		object, err := meta.Accessor(a.Object)
		if err == nil && object.GetName() == "" && object.GetGenerateName() != "" {
			object.SetName(object.GetGenerateName() + rand.String(5))
		}
		if err != nil || object.GetName() != "" {
			return err
		}
	case testing.UpdateActionImpl:
		if object, err := meta.Accessor(a.Object); err != nil || object.GetName() != "" {
			return err
		}
	case testing.GetActionImpl:
		if a.Name != "" {
			return nil
		}
	case testing.PatchActionImpl:
		if a.Name != "" {
			return nil
		}
	case testing.DeleteActionImpl:
		if a.Name != "" {
			return checkPreconditions(tracker, a)
		}
	default:
		return nil
	}
	return errors.New("resource name may not be empty")
}

func checkPreconditions(tracker testing.ObjectTracker, a testing.DeleteActionImpl) error {
	want := a.DeleteOptions.Preconditions
	if want == nil {
		return nil
	}
	stored, err := tracker.Get(a.Resource, a.Namespace, a.Name)
	if err != nil {
		return err
	}
	object, err := meta.Accessor(stored)
	if err != nil {
		return err
	}
	if want.UID != nil && *want.UID != object.GetUID() || want.ResourceVersion != nil && *want.ResourceVersion != object.GetResourceVersion() {
		return apierrors.NewConflict(a.Resource.GroupResource(), a.Name, fmt.Errorf("the preconditions of the Delete do not hold: UID %s, resourceVersion %s", object.GetUID(), object.GetResourceVersion()))
	}
	return nil
}
