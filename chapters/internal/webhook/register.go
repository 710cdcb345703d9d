package webhook

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
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

// Reached sends a dry run about which the API server has to ask this process, and returns an error
// if that cannot reach it. Any other error, such as a right that is missing, says nothing.
func Reached(ctx context.Context, create *rest.Request) error {
	err := create.Param("dryRun", metav1.DryRunAll).Do(ctx).Error()
	if err == nil || !strings.Contains(err.Error(), "webhook") || !strings.Contains(err.Error(), `Post "`) {
		return nil
	}
	return fmt.Errorf("the API server cannot reach this program, which must run where that does (README.md, Try it): %w", err)
}

// process is the annotation that says whose a registration is.
const process = "byhand/process"

// Object is an object that registers a server. Its methods send requests, and may be called by
// one goroutine.
type Object struct {
	Client dynamic.ResourceInterface
	// Want is the whole object but for metadata, of which it has the name. Install changes nothing
	// in it.
	Want *unstructured.Unstructured
	// Process is the name of this process, which no other has.
	Process string
}

// Install writes the object, whatever is there. Without first it returns ErrTaken if another
// process has written it since. It sends an Update and no apply: that would keep what others add,
// such as a selector that no object has. What others have in the metadata stays.
func (o Object) Install(ctx context.Context, first bool) error {
	what := o.Want.GetKind() + " " + o.Want.GetName()
	err := retry.OnError(retry.DefaultRetry, func(err error) bool {
		return first && (apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err))
	}, func() error {
		want := o.Want.DeepCopy()
		found, err := o.Client.Get(ctx, want.GetName(), metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			if !first {
				klog.FromContext(ctx).Info("It was gone, and is registered again", "object", what)
			}
			want.SetAnnotations(map[string]string{process: o.Process})
			_, err = o.Client.Create(ctx, want, metav1.CreateOptions{})
			return err
		case err != nil:
			return err
		case found.GetName() != want.GetName() || found.GetKind() != want.GetKind():
			return errors.New("the answer is another object") // It would be overwritten.
		case !first && o.isAnothers(found):
			return ErrTaken
		}
		// With its resourceVersion: if another process writes it now, this is refused.
		want.Object["metadata"] = found.Object["metadata"]
		annotations := want.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[process] = o.Process
		want.SetAnnotations(annotations)
		_, err = o.Client.Update(ctx, want, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		return fmt.Errorf("register %s: %w", what, err)
	}
	return nil
}

// Remove deletes the object unless another process was the last to write it.
func (o Object) Remove(ctx context.Context) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		found, err := o.Client.Get(ctx, o.Want.GetName(), metav1.GetOptions{})
		if err == nil && o.isAnothers(found) {
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

// isAnothers reports whether another process has written the object. One without the annotation is
// nobody's: kubectl has replaced it.
func (o Object) isAnothers(found *unstructured.Unstructured) bool {
	writer := found.GetAnnotations()[process]
	return writer != "" && writer != o.Process
}
