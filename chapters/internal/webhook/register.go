package webhook

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"
)

// Reached sends a dry run for which the API server must call this process, and returns an error if the
// call fails. It ignores any other error, such as a missing permission.
func Reached(ctx context.Context, create *rest.Request) error {
	err := create.Param("dryRun", metav1.DryRunAll).Do(ctx).Error()
	if err == nil || !strings.Contains(err.Error(), "webhook") || !strings.Contains(err.Error(), `Post "`) {
		return nil
	}
	return fmt.Errorf("the API server cannot reach this program, which must run where that does (README.md, Try it): %w", err)
}

// process is the annotation that identifies a registration's process.
const process = "byhand/process"

// Object is an object that registers a server.
type Object struct {
	Client dynamic.ResourceInterface
	// Want is the whole object. Install and Remove do not modify it.
	Want *unstructured.Unstructured
	// Process is the unique name of this process.
	Process string
}

// Install creates the object, or replaces it: a killed process may have left it.
func (o Object) Install(ctx context.Context) error {
	want := o.Want.DeepCopy()
	want.SetAnnotations(map[string]string{process: o.Process})
	err := retry.OnError(retry.DefaultRetry, func(err error) bool {
		return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err)
	}, func() error {
		found, err := o.Client.Get(ctx, want.GetName(), metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			want.SetResourceVersion("")
			_, err = o.Client.Create(ctx, want, metav1.CreateOptions{})
		case err == nil:
			want.SetResourceVersion(found.GetResourceVersion())
			_, err = o.Client.Update(ctx, want, metav1.UpdateOptions{})
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("register %s %s: %w", want.GetKind(), want.GetName(), err)
	}
	return nil
}

// Remove deletes the object, unless another process has registered itself since.
func (o Object) Remove(ctx context.Context) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		found, err := o.Client.Get(ctx, o.Want.GetName(), metav1.GetOptions{})
		if err == nil && found.GetAnnotations()[process] == o.Process {
			// Another process may write the object between these two requests.
			version := found.GetResourceVersion()
			err = o.Client.Delete(ctx, o.Want.GetName(), metav1.DeleteOptions{Preconditions: &metav1.Preconditions{ResourceVersion: &version}})
		}
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
}
