package observer

import (
	"bytes"
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
	"example.com/byhand/controller"
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
		r.wire(k, "test")
	}
	return r
}

func say(r *Observer, text string) int64 {
	return r.record(&trace.Step{Part: trace.PartProgram, What: trace.Said, Text: text}, nil, nil)
}

// kept publishes all steps and returns the kept ones.
func kept(r *Observer) (steps []trace.Step) {
	late(r, func() {})
	for _, step := range r.Kept(0) {
		steps = append(steps, *step)
	}
	return steps
}

// Wiring that would make steps lie is refused.
func TestWiring(t *testing.T) {
	other := Kind{GVK: schema.GroupVersionKind{Group: "other.io", Version: "v1", Kind: "Foo"}, Resource: "foos", Describe: describeFoo}
	bar := Kind{GVK: v1alpha1.SchemeGroupVersion.WithKind("Bar"), Resource: "foos", Describe: describeFoo}
	plain := controller.NewQueue("")
	defer plain.ShutDown()
	for want, wrong := range map[string]func(r *Observer){
		"have one name":                          func(r *Observer) { r.handler(other, cache.ResourceEventHandlerFuncs{}) },
		"one path":                               func(r *Observer) { r.handler(bar, cache.ResourceEventHandlerFuncs{}) },
		"has no Resource":                        func(r *Observer) { r.handler(Kind{Resource: "foos"}, cache.ResourceEventHandlerFuncs{}) },
		"a second queue of Foo":                  func(r *Observer) { r.Queue(fooKind, plain) },
		"nothing wakes the reconcile of Project": func(r *Observer) { r.Reconcile(projectKind, reconcileFunc(nil)) },
		"give the controller the result of Observer.Queue": func(r *Observer) {
			_, _ = r.Reconcile(fooKind, reconcileFunc(nil)).Reconcile(t.Context(), fooKey)
		},
	} {
		r := New(Options{All: true})
		r.Queue(fooKind, plain)
		func() {
			defer func() {
				if said := fmt.Sprint(recover()); !strings.Contains(said, want) {
					t.Errorf("refused with %q, want %q", said, want)
				}
			}()
			wrong(r)
		}()
	}
}

type reconcileFunc func(context.Context, cache.ObjectName) (time.Duration, error)

func (f reconcileFunc) Reconcile(ctx context.Context, key cache.ObjectName) (time.Duration, error) {
	return f(ctx, key)
}

func TestPrint(t *testing.T) {
	r := New(Options{All: true})
	var all, one bytes.Buffer
	say(r, "before")
	r.Print(Flag{on: true, json: true}, &all)
	r.Print(Flag{on: true, key: "default/foo"}, &one)
	r.record(&trace.Step{Part: trace.PartQueue, What: trace.Added, Key: "default/foo", For: "Foo default/foo"}, nil, nil)
	r.record(&trace.Step{Part: trace.PartQueue, What: trace.Added, Key: "default/other", For: "Foo default/other"}, nil, nil)
	r.Close()
	steps, err := trace.ReadRecording(&all)
	if err != nil || len(steps) != 3 {
		t.Errorf("%d steps (%v), want 3", len(steps), err)
	}
	if text := one.String(); strings.Count(text, "\n") != 2 || strings.Contains(text, "other") {
		t.Errorf("the trace of one Foo, and of the process:\n%s", text)
	}
}
