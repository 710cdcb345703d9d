package observer

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/controller"
	"example.com/byhand/internal/observe/trace"
)

var fooKey = cache.NewObjectName("default", "foo")

// told returns each step that was recorded since the last call, as one line.
func told(r *Observer) (lines []string) {
	steps := kept(r)
	r.publishing.Lock()
	r.History = trace.NewHistory(maxSteps)
	r.publishing.Unlock()
	for _, step := range steps {
		line := fmt.Sprintf("%s %s: %s", step.Part, step.What, step.Text)
		if step.Cause != "" {
			line += " ← " + step.Cause
		}
		lines = append(lines, line)
	}
	return lines
}

// want fails the test unless exactly these steps were recorded since the last call.
func want(t *testing.T, r *Observer, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, told(r)); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
}

// traced is a real queue with an Observer around it, in the test's own time.
func traced() (*Observer, controller.Queue) {
	r := observing()
	return r, r.Queue(fooKind, controller.NewQueue(""))
}

// A key is added while it waits, and while a worker has it.
func TestQueueCoalesces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, queue := traced()
		defer queue.ShutDown()
		h := r.handler(fooKind, controller.EnqueueObject(queue))
		h.OnAdd(foo("1"), true)
		time.Sleep(time.Second)
		h.OnUpdate(foo("1"), foo("2"))
		queue.Get()
		h.OnUpdate(foo("2"), foo("3"))
		h.OnUpdate(foo("3"), foo("4"))
		time.Sleep(time.Minute)
		queue.Done(fooKey)
		queue.Get()
		queue.Done(fooKey)
		want(t, r,
			"store added: wants d ← the first list",
			"queue added: low priority ← Foo foo in the first list",
			"store updated: wants d",
			"queue coalesced: waits already ← Foo foo updated",
			"worker got: waited 1s ← Foo foo in the first list; Foo foo updated",
			"store updated: wants d",
			"queue coalesced: a worker has it: comes back when that is done ← Foo foo updated",
			"store updated: wants d",
			"queue coalesced: a worker has it: comes back when that is done ← Foo foo updated",
			"worker done: back into the queue",
			"worker got: waited 0s ← Foo foo updated",
			"worker done: nothing waits for it",
		)
		if n := len(r.kinds["Foo"].queue.keys); n != 0 {
			t.Errorf("the Observer still has %d keys, want none", n)
		}
	})
}

// An event during a back-off does not enqueue the key. A new object does.
func TestQueueBacksOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, queue := traced()
		defer queue.ShutDown()
		queue.Add(fooKey)
		queue.Get()
		queue.Add(fooKey)
		queue.AddRateLimited(fooKey)
		queue.Done(fooKey)
		queue.Add(fooKey)
		queue.Get()
		queue.AddRateLimited(fooKey)
		queue.Done(fooKey)
		controller.EnqueueObject(queue).OnAdd(foo("1"), false)
		queue.Get()
		want(t, r,
			"queue added: ",
			"worker got: waited 0s",
			"queue coalesced: a worker has it: comes back when that is done",
			"queue limited: try 1 again in 5ms",
			"worker done: still to come: try 1 again in 5ms",
			"queue coalesced: backs off: comes back after that",
			"queue due:  ← the delay is over",
			"worker got: waited 0s ← the delay is over",
			"queue limited: try 2 again in 10ms",
			"worker done: still to come: try 2 again in 10ms",
			"queue forgot: its 2 failures no longer count",
			"queue added: ",
			"worker got: waited 0s",
		)
	})
}

// Two kinds with a queue and a reconcile each, and objects of the same name: each step has
// its own kind and cause.
func TestTwoKinds(t *testing.T) {
	r := New(Options{All: true})
	wire := func(k Kind) (handler cache.ResourceEventHandler, work func()) {
		queue := r.Queue(k, controller.NewQueue(""))
		observed := r.Reconcile(k, reconcileFunc(func(context.Context, cache.ObjectName) (time.Duration, error) { return 0, nil }))
		return r.handler(k, controller.EnqueueObject(queue)), func() {
			defer queue.ShutDown()
			key, _ := queue.Get()
			_, _ = observed.Reconcile(t.Context(), key)
			queue.Done(key)
		}
	}
	foos, workFoos := wire(fooKind)
	projects, workProjects := wire(projectKind)
	foos.OnAdd(foo("1"), false)
	projects.OnAdd(project("1"), false)
	workProjects()
	workFoos()
	r.own.add("Foo", "2", 1)
	projects.OnUpdate(project("1"), project("2"))
	foos.OnUpdate(foo("1"), foo("2"))

	var lines []string
	for _, step := range kept(r) {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s %s %s for %s ← %s", step.Part, step.What, step.Kind, step.Key, step.For, step.Cause)))
	}
	if diff := cmp.Diff([]string{
		"store added Foo default/foo for Foo default/foo ←",
		"queue added Foo default/foo for Foo default/foo ← Foo foo added",
		"store added Project default/foo for Project default/foo ←",
		"queue added Project default/foo for Project default/foo ← Project foo added",
		"worker got Project default/foo for Project default/foo ← Project foo added",
		"reconcile started Project default/foo for Project default/foo ← Project foo added",
		"reconcile ended Project default/foo for Project default/foo ←",
		"worker done Project default/foo for Project default/foo ←",
		"worker got Foo default/foo for Foo default/foo ← Foo foo added",
		"reconcile started Foo default/foo for Foo default/foo ← Foo foo added",
		"reconcile ended Foo default/foo for Foo default/foo ←",
		"worker done Foo default/foo for Foo default/foo ←",
		"store updated Project default/foo for Project default/foo ←",
		"store updated Foo default/foo for Foo default/foo ← our own write",
	}, lines); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
}
