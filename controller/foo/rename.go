package foo

import (
	"cmp"
	"context"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"example.com/byhand/controller"
)

// A rename. Without this file the old Deployment runs on, because its owner still exists
// (TestRename):
//
//	0 s    A person changes spec.deploymentName of a Foo from a to b.
//	0.1 s  The controller creates b. The Foo owns both, and the garbage collector deletes a
//	       when the Foo is deleted: perhaps in a year.
//
// So: POST b, GET the Foo and b, DELETE a, each only after the one before.

// deleteRenamed deletes the Deployments that the Foo controls under an earlier name. The new one
// comes first: if it is refused (a quota), or changed by a webhook, the old one still runs.
func (r *Reconciler) deleteRenamed(ctx context.Context, s *fooState) {
	// In one order, or each time the causes would be another text.
	first := len(s.failures)
	defer func() {
		slices.SortFunc(s.failures[first:], func(a, b controller.Failure) int { return cmp.Compare(a.Write, b.Write) })
	}()
	hasNew := s.blocked == nil && s.deployment != nil && s.differs == ""
	for _, old := range s.owned {
		if hasNew && ctx.Err() != nil || s.behind {
			return // The next reconcile begins with those that were not tried.
		}
		// One that is being deleted may stay for a while: a finalizer holds it. Each reconcile
		// would delete it again.
		w := controller.Write{Name: deletion(old), Version: old.ResourceVersion}
		if !hasNew || old.Name == s.foo.Spec.DeploymentName || old.DeletionTimestamp != nil {
			r.try(s, w, nil)
			continue
		}
		r.try(s, w, func() error {
			// A stale Foo may carry an old name, and `old` may be the current one. And the one that the
			// Foo names may be gone. A delete cannot be taken back, so ask the API server for both.
			live, err := r.verify(ctx, s, s.deployment)
			if err != nil {
				return err
			}
			s.deployment = live // The status tells the newest.
			// With the preconditions, a Deployment that another client has changed or replaced
			// is kept. Background: it is gone at once, its Pods follow.
			err = r.Deployments.Deployments(s.foo.Namespace).Delete(ctx, old.Name, metav1.DeleteOptions{
				Preconditions:     &metav1.Preconditions{UID: &old.UID, ResourceVersion: &old.ResourceVersion},
				PropagationPolicy: new(metav1.DeletePropagationBackground),
			})
			if err != nil {
				return err
			}
			r.Writes.AwaitChange(s.key, r.DeploymentStore, old, nil)
			s.wait = controller.CacheRetry // The answer may be wrong, and no event follow.
			r.Events.Eventf(s.foo, old, corev1.EventTypeNormal, "Deleted", "Delete", "Deleted Deployment %s, the Foo names %s", old.Name, s.foo.Spec.DeploymentName)
			return nil
		})
	}
}

// deletion is the name of the write that deletes a Deployment.
func deletion(d *appsv1.Deployment) string {
	return "delete Deployment " + cache.MetaObjectToName(d).String()
}

// takeOver is for a Foo without a number of replicas: others have set that in the Deployment alone, and it is
// deleted with it. So the new one gets the number of the largest of the old ones, if it has fewer, for as long as
// that is there: others may still scale it. takeOver returns that old one, nil if there is none. What is younger
// than the new one, by a second, is a copy that somebody has made; before there is a new one, nothing tells
// a copy from an old one.
func (s *fooState) takeOver(d *appsv1.Deployment) (highest *appsv1.Deployment) {
	for _, old := range s.owned {
		isYounger := d.UID != "" && d.CreationTimestamp.Before(&old.CreationTimestamp)
		isReplaced := old.Name != s.foo.Spec.DeploymentName && old.DeletionTimestamp == nil && !isYounger
		if n := ptr.Deref(old.Spec.Replicas, 1); isReplaced && (d.Spec.Replicas == nil || n > *d.Spec.Replicas) {
			d.Spec.Replicas, highest = &n, old
		}
	}
	return highest
}
