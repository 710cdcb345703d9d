package controller

import (
	"context"
	"fmt"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

// Foos and Deployments come through two watches, and one may be behind the other.
// What this process wrote itself, ownWrites knows. What another one wrote before
// this one took over, the objects say: each Deployment which generation of its Foo
// it was made from, each Foo's status which version of the Deployment it speaks
// of. To act on the older half of such a pair would undo what is newer.

// generationAnnotation stands on each Deployment of ours.
const generationAnnotation = v1alpha1.GroupName + "/foo-generation"

func setGeneration(deployment *appsv1.Deployment, foo *v1alpha1.Foo) {
	metav1.SetMetaDataAnnotation(&deployment.ObjectMeta, generationAnnotation, strconv.FormatInt(foo.Generation, 10))
}

// generationOf returns the generation of the Foo that a Deployment was made from,
// and 0 if that cannot be told.
func generationOf(deployment *appsv1.Deployment) int64 {
	generation, err := strconv.ParseInt(deployment.Annotations[generationAnnotation], 10, 64)
	if err != nil {
		return 0
	}
	return generation
}

// ahead reports whether a Deployment was made from a newer generation of the Foo
// than this one.
func ahead(deployment *appsv1.Deployment, foo *v1alpha1.Foo) bool {
	return generationOf(deployment) > foo.Generation
}

// statusAhead reports whether the Foo's status speaks of a newer version of a
// Deployment than this one. Versions of one resource are comparable, so it need not
// be the same Deployment; after a change of the name, an old one is no wonder.
func statusAhead(foo *v1alpha1.Foo, deployment *appsv1.Deployment) bool {
	order, err := resourceversion.CompareResourceVersion(foo.Status.ObservedDeploymentVersion, deployment.ResourceVersion)
	return err == nil && order > 0
}

// Anybody can write such a mark, so the API server has the last word: one request,
// whose answer is remembered until the store has it.

// deploymentIsStale reports whether there is a newer Deployment than this one, which
// may be nil. It asks only if the status says so.
func (r *FooReconciler) deploymentIsStale(ctx context.Context, key cache.ObjectName, foo *v1alpha1.Foo, deployment *appsv1.Deployment) (bool, error) {
	if deployment == nil || !statusAhead(foo, deployment) {
		return false, nil
	}
	live, err := r.Deployments.Deployments(foo.Namespace).Get(ctx, deployment.Name, metav1.GetOptions{})
	if err != nil {
		return false, fmt.Errorf("get Deployment %s/%s: %w", foo.Namespace, deployment.Name, err)
	}
	if live.ResourceVersion == deployment.ResourceVersion {
		return false, nil
	}
	r.own.of(key).deployment = live.ResourceVersion
	return true, nil
}

// fooIsStale reports whether there is a newer Foo than this one. It asks only if a
// Deployment that the Foo controls says so.
func (r *FooReconciler) fooIsStale(ctx context.Context, key cache.ObjectName, foo *v1alpha1.Foo, owned []*appsv1.Deployment) (bool, error) {
	for _, deployment := range owned {
		if ahead(deployment, foo) {
			return r.isStale(ctx, key, foo)
		}
	}
	return false, nil
}

// isStale asks whether there is a newer Foo than this one.
func (r *FooReconciler) isStale(ctx context.Context, key cache.ObjectName, foo *v1alpha1.Foo) (bool, error) {
	live, err := r.Foos.Foos(foo.Namespace).Get(ctx, foo.Name, metav1.GetOptions{})
	if err != nil {
		return false, fmt.Errorf("get Foo %s: %w", key, err)
	}
	if live.ResourceVersion == foo.ResourceVersion {
		return false, nil
	}
	r.own.of(key).foo = live.ResourceVersion
	return true, nil
}
