package controller

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

// Taking over from another process. Without this file a new leader undoes what the old
// one did, if one of its two watches is behind (TestTakeOverWithStaleCache):
//
//	0.0 s  A person scales a Foo from 1 to 3. The old leader updates the Deployment and
//	       is killed.
//	0.1 s  The new leader's cache shows the new Deployment and the old Foo. It scales
//	       the Deployment back to 1.
//	0.2 s  Its watch delivers the new Foo. It scales the Deployment to 3 again.
//
// PendingWrites does not help: these are another process's writes. So the objects carry
// marks. A Deployment records its Foo's generation; the status records the Deployment
// version it was computed from. A new leader detects a stale cache by comparing them.
// Both can be forged, so it verifies with one GET.

// isFromNewer reports whether a Deployment was written for a newer generation of the Foo
// than the cache's. An annotation that is no number is ignored.
func isFromNewer(deployment *appsv1.Deployment, foo *v1alpha1.Foo) bool {
	generation, err := strconv.ParseInt(deployment.Annotations[generationAnnotation], 10, 64)
	return err == nil && generation > foo.Generation
}

// observedNewer reports whether the Foo's status was computed from a newer version than
// this Deployment's. Versions of one resource are comparable, so it need not be the
// same Deployment: after a rename an older one is normal.
func observedNewer(foo *v1alpha1.Foo, deployment *appsv1.Deployment) bool {
	order, err := resourceversion.CompareResourceVersion(foo.Status.ObservedDeploymentVersion, deployment.ResourceVersion)
	return err == nil && order > 0
}

// verifyCache returns errCacheBehind if another process has seen a newer Deployment, or
// acted on a newer Foo, than the cache shows. If a GET fails, it returns that error. If the
// cache is fresh and a mark is wrong (forged, or left by a rename), the mark is to be
// rewritten. willWrite says whether Deployments may be written.
func (r *FooReconciler) verifyCache(ctx context.Context, s *fooState, willWrite bool) error {
	if s.deployment != nil && observedNewer(s.foo, s.deployment) {
		if err := r.verifyDeployment(ctx, s); err != nil {
			return err
		}
		s.rewriteVersion = true
	}
	if willWrite && slices.ContainsFunc(s.owned, func(d *appsv1.Deployment) bool { return isFromNewer(d, s.foo) }) {
		if err := r.verifyFoo(ctx, s); err != nil {
			return err
		}
		s.rewriteGeneration = s.deployment != nil && isFromNewer(s.deployment, s.foo)
	}
	return nil
}

// verifyDeployment compares the cache with the API server. It returns nil if both have the
// same version, errCacheBehind if not, and the error of a GET that fails.
func (r *FooReconciler) verifyDeployment(ctx context.Context, s *fooState) error {
	live, err := r.Deployments.Deployments(s.foo.Namespace).Get(ctx, s.deployment.Name, metav1.GetOptions{})
	switch {
	case err != nil:
		// The cache may be stale: do not record its version in the status.
		s.deployment = nil
		return fmt.Errorf("get Deployment %s/%s: %w", s.foo.Namespace, s.foo.Spec.DeploymentName, err)
	case live.ResourceVersion != s.deployment.ResourceVersion:
		s.writes = append(s.writes, Write{Store: r.DeploymentStore, After: live})
		return errCacheBehind
	default:
		return nil
	}
}

// verifyFoo does the same for the Foo. Only its spec counts: each change of that, and its
// deletion, raises the generation.
func (r *FooReconciler) verifyFoo(ctx context.Context, s *fooState) error {
	live, err := r.Foos.Foos(s.foo.Namespace).Get(ctx, s.foo.Name, metav1.GetOptions{})
	switch {
	case err != nil:
		return fmt.Errorf("get Foo %s/%s: %w", s.foo.Namespace, s.foo.Name, err)
	case live.UID != s.foo.UID || live.Generation != s.foo.Generation:
		s.writes = append(s.writes, Write{Store: r.FooStore, After: live})
		return errCacheBehind
	default:
		return nil
	}
}
