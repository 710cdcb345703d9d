package controller

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/tools/cache"

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
// PendingWrites does not help: these are another process's writes. So the objects tell.
// A Deployment records its Foo's generation; the status records the Deployment version
// it was computed from. A new leader detects a stale cache by comparing them. Both can
// be forged, so it verifies with one GET.

// generationAnnotation holds the generation of the Foo that a Deployment was last
// written for.
const generationAnnotation = v1alpha1.GroupName + "/foo-generation"

func setGeneration(deployment *appsv1.Deployment, foo *v1alpha1.Foo) {
	metav1.SetMetaDataAnnotation(&deployment.ObjectMeta, generationAnnotation, strconv.FormatInt(foo.Generation, 10))
}

// isFromNewer reports whether a Deployment was written for a newer generation of the
// Foo than this one. An annotation that is no number says nothing.
func isFromNewer(deployment *appsv1.Deployment, foo *v1alpha1.Foo) bool {
	generation, err := strconv.ParseInt(deployment.Annotations[generationAnnotation], 10, 64)
	return err == nil && generation > foo.Generation
}

// setObservedVersion records the version of the Deployment that a status was computed
// from, if there is one. The version alone is no reason to write the status, unless the
// recorded one is ahead: then it was forged, or another Deployment's.
func setObservedVersion(status *v1alpha1.FooStatus, foo *v1alpha1.Foo, deployment *appsv1.Deployment) {
	if deployment != nil && (observedNewer(foo, deployment) || !equality.Semantic.DeepEqual(*status, foo.Status)) {
		status.ObservedDeploymentVersion = deployment.ResourceVersion
	}
}

// observedNewer reports whether the Foo's status was computed from a newer version than
// this Deployment's. Versions of one resource are comparable, so it need not be the
// same Deployment: after a rename an older one is normal.
func observedNewer(foo *v1alpha1.Foo, deployment *appsv1.Deployment) bool {
	order, err := resourceversion.CompareResourceVersion(foo.Status.ObservedDeploymentVersion, deployment.ResourceVersion)
	return err == nil && order > 0
}

// verifyCache returns errCacheBehind if another process has seen a newer Deployment or
// acted on a newer Foo than the cache shows.
func (r *FooReconciler) verifyCache(ctx context.Context, foo *v1alpha1.Foo, deployment *appsv1.Deployment, owned []*appsv1.Deployment) error {
	if deployment != nil && observedNewer(foo, deployment) {
		if err := r.verifyDeployment(ctx, foo, deployment); err != nil {
			return err
		}
	}
	// A Foo that is blocked writes no Deployment, so there is nothing to undo.
	if deployment != nil && checkController(deployment, foo) != nil {
		return nil
	}
	if slices.ContainsFunc(owned, func(d *appsv1.Deployment) bool { return isFromNewer(d, foo) }) {
		return r.verifyFoo(ctx, foo)
	}
	return nil
}

// verifyDeployment returns errCacheBehind unless the API server has this version.
func (r *FooReconciler) verifyDeployment(ctx context.Context, foo *v1alpha1.Foo, deployment *appsv1.Deployment) error {
	live, err := r.Deployments.Deployments(foo.Namespace).Get(ctx, deployment.Name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("get Deployment %s/%s: %w", foo.Namespace, deployment.Name, err)
	}
	if live.ResourceVersion == deployment.ResourceVersion {
		return nil
	}
	r.Writes.Record(cache.MetaObjectToName(foo), r.DeploymentStore, nil, live, nil)
	return errCacheBehind
}

// verifyFoo returns errCacheBehind unless the API server has this version.
func (r *FooReconciler) verifyFoo(ctx context.Context, foo *v1alpha1.Foo) error {
	live, err := r.Foos.Foos(foo.Namespace).Get(ctx, foo.Name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("get Foo %s/%s: %w", foo.Namespace, foo.Name, err)
	}
	if live.ResourceVersion == foo.ResourceVersion {
		return nil
	}
	r.Writes.Record(cache.MetaObjectToName(foo), r.FooStore, nil, live, nil)
	return errCacheBehind
}
