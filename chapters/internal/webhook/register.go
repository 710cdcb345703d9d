package webhook

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/retry"
	"k8s.io/klog/v2"
)

// Period is how long a registration may be gone, or wrong, before Keep restores it.
const Period = 5 * time.Second

// ErrTaken means that another process has registered itself. It is left alone: two processes
// that restore what each other has written would never end.
var ErrTaken = errors.New("another process has registered itself, and is asked until it ends")

// Keep registers a server, and restores its registration until ctx is done. It calls install
// with first set, which takes the registration from another process, then every Period without,
// which leaves another process alone with ErrTaken. Only the first error is returned. Later ones
// are logged, once in a row, and install is called again.
func Keep(ctx context.Context, install func(ctx context.Context, first bool) error) error {
	if err := install(ctx, true); err != nil {
		return err
	}
	for said := ""; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(Period):
		}
		if err := install(ctx, false); err == nil {
			said = ""
		} else if ctx.Err() == nil && err.Error() != said {
			said = err.Error()
			klog.FromContext(ctx).Error(err, "The registration is not as it should be, trying again", "after", Period)
		}
	}
}

// process is the annotation that says whose a registration is.
const process = "byhand/process"

// Object is an object that registers a server. Its methods send requests, and may be called by
// one goroutine.
type Object struct {
	Client dynamic.ResourceInterface
	// Want are the fields that this program sets, with apiVersion, kind and name. Install
	// changes nothing in it.
	Want *unstructured.Unstructured
	// Manager owns these fields, in all processes of the program.
	Manager string
	// Process is the name of this one, which no other has.
	Process string
}

// Install writes the object, whatever another process has put there. Without first it returns
// ErrTaken if another process has written it since.
func (o Object) Install(ctx context.Context, first bool) error {
	want, what := o.Want.DeepCopy(), o.Want.GetKind()+" "+o.Want.GetName()
	want.SetAnnotations(map[string]string{process: o.Process})
	if !first {
		found, err := o.Client.Get(ctx, want.GetName(), metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			klog.FromContext(ctx).Info("It was gone, and is registered again", "object", what)
		case err != nil:
			return fmt.Errorf("read %s: %w", what, err)
		case !o.owns(found):
			return fmt.Errorf("%s: %w", what, ErrTaken)
		default:
			// If another process writes it now, this is refused with Conflict.
			want.SetResourceVersion(found.GetResourceVersion())
		}
	}
	_, err := o.Client.Apply(ctx, want.GetName(), want, metav1.ApplyOptions{FieldManager: o.Manager, Force: true})
	if err != nil {
		return fmt.Errorf("apply %s: %w", what, err)
	}
	return nil
}

// Remove deletes the object if this process was the last to write it.
func (o Object) Remove(ctx context.Context) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		found, err := o.Client.Get(ctx, o.Want.GetName(), metav1.GetOptions{})
		if err == nil && !o.owns(found) {
			return nil
		}
		if err == nil {
			// Another process may write it between these two requests.
			version := found.GetResourceVersion()
			err = o.Client.Delete(ctx, o.Want.GetName(), metav1.DeleteOptions{Preconditions: &metav1.Preconditions{ResourceVersion: &version}})
		}
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
}

func (o Object) owns(found *unstructured.Unstructured) bool {
	return found.GetAnnotations()[process] == o.Process
}
