package observer

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	examplesv1alpha1 "example.com/byhand/api/examples-gzh.com/v1alpha1"
	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/internal/observe/trace"
)

// The kinds of these tests: one that is reconciled, one that it owns, one that is neither.
var (
	fooKind     = Kind{GVK: v1alpha1.SchemeGroupVersion.WithKind("Foo"), Resource: "foos", Describe: describeFoo}
	projectKind = Kind{GVK: examplesv1alpha1.SchemeGroupVersion.WithKind("Project"), Resource: "projects", Describe: func(any) string { return "a Project" }}
	// Only the names of containers are visible.
	deploymentKind = Kind{GVK: appsv1.SchemeGroupVersion.WithKind("Deployment"), Resource: "deployments", Owned: true,
		Describe: func(any) string { return "a Deployment" },
		Shown:    Fields{"spec": {"template": {"spec": {"containers": {"name": nil}}}}}}
)

func describeFoo(object any) string {
	if foo, ok := object.(*v1alpha1.Foo); ok {
		return "wants " + foo.Spec.DeploymentName
	}
	return ""
}

func observing() *Observer {
	r := New(Options{All: true})
	for _, k := range []Kind{fooKind, projectKind, deploymentKind} {
		r.wire(k)
	}
	return r
}

// kept publishes all steps, and returns those in the history.
func kept(r *Observer) (steps []trace.Step) {
	late(r, func() {})
	for _, step := range r.Kept(0) {
		steps = append(steps, *step)
	}
	return steps
}

// Kinds that could be confused are rejected.
func TestConfusedKinds(t *testing.T) {
	r := observing()
	for _, confused := range []Kind{
		{GVK: schema.GroupVersionKind{Group: "other.io", Version: "v1", Kind: "Foo"}, Resource: "foos"},
		{GVK: v1alpha1.SchemeGroupVersion.WithKind("Bar"), Resource: "foos"},
	} {
		func() {
			defer func() {
				if said := fmt.Sprint(recover()); !strings.Contains(said, "one name or one path") {
					t.Errorf("%s is rejected with %q", confused.GVK, said)
				}
			}()
			r.wire(confused)
		}()
	}
}

type reconcileFunc func(context.Context, cache.ObjectName) (time.Duration, error)

func (f reconcileFunc) Reconcile(ctx context.Context, key cache.ObjectName) (time.Duration, error) {
	return f(ctx, key)
}
