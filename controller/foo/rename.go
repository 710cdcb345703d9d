package foo

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

// Renames. Without this file, a Foo with a new spec.deploymentName keeps its old Deployment, too: the garbage
// collector deletes it only after the Foo (TestRename). A DELETE is final, and the cache may be stale: the
// user may have renamed the Foo back. So the API server confirms each fact before a DELETE.

// deleteRenamed deletes the Deployments with earlier names. It tries each of them, even if one deletion fails.
func (r *Reconciler) deleteRenamed(ctx context.Context, foo *v1alpha1.Foo, owned []*appsv1.Deployment) (err error) {
	for _, old := range owned {
		if old.Name == foo.Spec.DeploymentName || old.DeletionTimestamp != nil {
			continue
		}
		if failed := r.deleteDeployment(ctx, foo, old); failed != nil {
			err = errors.Join(err, fmt.Errorf("delete Deployment %s: %w", old.Name, failed))
		}
	}
	return err
}

// deleteDeployment deletes a Deployment if the API server confirms that the Foo's spec has the new name, and
// that the Foo controls the new Deployment.
func (r *Reconciler) deleteDeployment(ctx context.Context, foo *v1alpha1.Foo, old *appsv1.Deployment) error {
	if err := r.confirmFoo(ctx, foo); err != nil {
		return err
	}
	client := r.Deployments.Deployments(foo.Namespace)
	current, err := client.Get(ctx, foo.Spec.DeploymentName, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("get Deployment %s: %w", foo.Spec.DeploymentName, err)
	}
	if !metav1.IsControlledBy(current, foo) || current.DeletionTimestamp != nil {
		return errStale(appsv1.Resource("deployments"), current.Name)
	}
	err = client.Delete(ctx, old.Name, metav1.DeleteOptions{
		// Fail if another client has changed or replaced it.
		Preconditions: &metav1.Preconditions{UID: &old.UID, ResourceVersion: &old.ResourceVersion},
		// The Deployment is deleted at once, and its Pods afterwards.
		PropagationPolicy: new(metav1.DeletePropagationBackground),
	})
	r.Writes.AwaitChange(cache.MetaObjectToName(foo), r.DeploymentStore, old, err)
	if err != nil {
		return err
	}
	r.Rewrites.Record(foo, "deletion", nil) // Another client may keep creating copies with this owner reference.
	r.Events.Eventf(foo, old, corev1.EventTypeNormal, "Deleted", "Reconcile", "Deleted Deployment %s because spec.deploymentName is now %s", old.Name, foo.Spec.DeploymentName)
	return nil
}

// confirmFoo returns an error unless the API server has the same Foo with the same spec as the cache. A change
// of the spec increments the generation, and so does a deletion that a finalizer delays.
func (r *Reconciler) confirmFoo(ctx context.Context, foo *v1alpha1.Foo) error {
	live, err := r.Foos.Foos(foo.Namespace).Get(ctx, foo.Name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("get Foo %s: %w", foo.Name, err)
	}
	if live.UID != foo.UID || live.Generation != foo.Generation {
		return errStale(v1alpha1.Resource("foos"), foo.Name)
	}
	return nil
}

func errStale(resource schema.GroupResource, name string) error {
	return apierrors.NewConflict(resource, name, errors.New("the cache is behind the API server"))
}
