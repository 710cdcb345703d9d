package observer

import (
	"bytes"
	"context"
	"errors"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/controller"
)

var clock = regexp.MustCompile(`(?m)^\d\d:\d\d:\d\d\.\d{3}  `)

// logOf returns the log lines that happens causes, without their times.
func logOf(t *testing.T, happens func(r *Observer)) []string {
	t.Helper()
	var out bytes.Buffer
	r := New(Options{})
	r.Print(Flag{}, &out)
	happens(r)
	r.Close()
	text := out.String()
	if lines := strings.Count(text, "\n"); len(clock.FindAllString(text, -1)) != lines {
		t.Errorf("not every line begins with a time:\n%s", text)
	}
	return strings.Split(strings.TrimSuffix(clock.ReplaceAllString(text, ""), "\n"), "\n")
}

func fooThatWants(version, name string) *v1alpha1.Foo {
	f := foo(version)
	f.Spec.DeploymentName = name
	return f
}

// The log lines of events. TestHandler shows which events are logged.
func TestLogOfEvents(t *testing.T) {
	told := logOf(t, func(r *Observer) {
		queue := r.Queue(fooKind, controller.NewQueue(""))
		defer queue.ShutDown()
		foos, deployments := r.handler(fooKind, controller.EnqueueObject(queue)), r.handler(deploymentKind, cache.ResourceEventHandlerFuncs{})
		foos.OnAdd(fooThatWants("1", "one"), true)
		deployments.OnAdd(deployment("5", true), false)
		deployments.OnAdd(deployment("5", false), false) // It has no controller.
		foos.OnUpdate(fooThatWants("1", "one"), fooThatWants("2", "\x1b[2Jone\n12:00:00.000  forged"))
		foos.OnDelete(foo("4"))
		foos.OnDelete(cache.DeletedFinalStateUnknown{Key: "default/missed", Obj: foo("4")})
	})
	if diff := cmp.Diff([]string{
		"found    Foo default/foo: wants one",
		"added    Deployment default/d: of Foo foo, a Deployment",
		"changed  Foo default/foo: wants <U+001B>[2Jone 12:00:00.000  forged",
		"deleted  Foo default/foo: it is gone",
		"deleted  Foo default/missed: it is gone",
	}, told); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}

// explode is what the stack of a panic must still show.
func explode() (time.Duration, error) { panic("on purpose") }

// Each result of a reconcile is a step. A panic is passed on: the function that recovers it sees where it
// began.
func TestResults(t *testing.T) {
	r := New(Options{All: true})
	queue := r.Queue(fooKind, controller.NewQueue(""))
	var result func() (time.Duration, error)
	observed := r.Reconcile(fooKind, reconcileFunc(func(context.Context, cache.ObjectName) (time.Duration, error) { return result() }))
	stack := ""
	for _, result = range []func() (time.Duration, error){
		func() (time.Duration, error) { return time.Second, nil },
		func() (time.Duration, error) { return 0, errors.New("broken") },
		explode,
	} {
		func() {
			defer func() {
				if recover() != nil {
					stack = string(debug.Stack())
				}
			}()
			queue.Add(fooKey)
			queue.Get()
			defer queue.Done(fooKey)
			_, _ = observed.Reconcile(t.Context(), fooKey)
		}()
	}
	if !strings.Contains(stack, "observer.explode") {
		t.Errorf("a panic was recovered at %q, want where it began", stack)
	}
	const later = "reconcile ended: sent nothing; look again in 1s at the latest"
	if steps := strings.Join(told(r), "\n"); !strings.Contains(steps, later) {
		t.Errorf("%q is not among the steps\n%s", later, steps)
	}
}
