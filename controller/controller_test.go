package controller_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"

	"example.com/byhand/controller"
	"example.com/byhand/internal/tests/quiet"
)

var oneKey = named("one")

// withLog returns a context whose logger calls logged with each line.
func withLog(logged lineFunc) context.Context {
	return klog.NewContext(context.Background(), textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(logged))))
}

type lineFunc func(line string)

func (f lineFunc) Write(line []byte) (int, error) {
	f(string(line))
	return len(line), nil
}

const deadline = 20 * time.Second

func run(t *testing.T, queue controller.Queue, workers int, reconcile controller.Reconcile) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(quiet.Context(t))
	done := make(chan struct{})
	go func() {
		defer close(done)
		controller.New(queue, reconcile).Run(ctx, workers)
	}()
	stop = func() {
		t.Helper()
		cancel()
		select {
		case <-done:
		case <-time.After(deadline):
			t.Fatal("Run does not return")
		}
	}
	t.Cleanup(stop)
	return stop
}

// inBubble runs a test with a queue in a synctest bubble. At the end it waits for the queue's goroutines, which
// stop at the queue's next tick.
func inBubble(t *testing.T, test func(t *testing.T, queue controller.Queue)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		queue := controller.NewQueue("")
		t.Cleanup(func() {
			queue.ShutDown()
			time.Sleep(time.Minute)
		})
		test(t, queue)
	})
}

func receive[T any](t *testing.T, from <-chan T, what string) T {
	t.Helper()
	select {
	case value := <-from:
		return value
	case <-time.After(deadline):
		t.Fatalf("%s: nothing for %s", what, deadline)
		panic("unreachable")
	}
}

func TestRetry(t *testing.T) {
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "widgets"}, "one", errors.New("modified"))
	for _, test := range []struct {
		reason string
		again  time.Duration
		err    error
		// back means that the key is reconciled again without an event.
		back bool
		// failures is the expected NumRequeues in the second reconcile.
		failures int
	}{
		{reason: "done"},
		{reason: "a requeue", again: time.Millisecond, back: true},
		{reason: "an error", err: errors.New("broken"), back: true, failures: 1},
		{reason: "a conflict", err: conflict, back: true, failures: 1},
	} {
		t.Run(test.reason, func(t *testing.T) {
			queue := controller.NewQueue("")
			calls := make(chan int)
			run(t, queue, 1, func(_ context.Context, key cache.ObjectName) (time.Duration, error) {
				calls <- queue.NumRequeues(key)
				return test.again, test.err
			})
			queue.Add(oneKey)
			receive(t, calls, "the first reconcile")
			if test.back {
				if got := receive(t, calls, "the second reconcile"); got != test.failures {
					t.Errorf("the queue counts %d failures, want %d", got, test.failures)
				}
				go func() { // receive all further calls
					for range calls {
					}
				}()
				return
			}
			// When the only worker has reconciled another key, the first key is done.
			queue.Add(named("other"))
			receive(t, calls, "the other key")
			if got := queue.NumRequeues(oneKey); got != 0 || queue.Len() != 0 {
				t.Errorf("%d failures and %d keys are left, want none", got, queue.Len())
			}
		})
	}
}

func TestSuccessForgetsFailures(t *testing.T) {
	queue := controller.NewQueue("")
	var calls atomic.Int32
	succeeded := make(chan struct{})
	run(t, queue, 1, func(context.Context, cache.ObjectName) (time.Duration, error) {
		if calls.Add(1) <= 3 {
			return 0, errors.New("broken")
		}
		close(succeeded)
		return 0, nil
	})
	queue.Add(oneKey)
	receive(t, succeeded, "the success")
	// Forget comes before Done, so after a drain Forget has been called.
	queue.ShutDownWithDrain()
	if got := queue.NumRequeues(oneKey); got != 0 {
		t.Errorf("the queue counts %d failures after a success", got)
	}
}

// A requeue is no success: the key's earlier failures still count.
func TestWaitKeepsFailures(t *testing.T) {
	queue := controller.NewQueue("")
	failures := make(chan int, 10)
	var calls atomic.Int32
	run(t, queue, 1, func(_ context.Context, key cache.ObjectName) (time.Duration, error) {
		failures <- queue.NumRequeues(key)
		switch calls.Add(1) {
		case 1:
			return 0, errors.New("broken")
		case 2:
			return time.Millisecond, nil
		}
		return 0, nil
	})
	queue.Add(oneKey)
	for i, want := range []int{0, 1, 1} {
		if got := receive(t, failures, "a reconcile"); got != want {
			t.Errorf("in reconcile %d the queue counts %d failures, want %d", i, got, want)
		}
	}
}

// An error is logged, a lost race is not. Of joined errors, the first one decides.
func TestErrorsAreLogged(t *testing.T) {
	resource := schema.GroupResource{Resource: "widgets"}
	broken, forbidden := errors.New("broken"), apierrors.NewForbidden(resource, "one", errors.New("no permission"))
	conflict, gone := apierrors.NewConflict(resource, "one", errors.New("modified")), apierrors.NewNotFound(resource, "one")
	for _, test := range []struct {
		reason string
		err    error
		want   string // part of the logged line, "" if nothing is logged
	}{
		{"no error", nil, ""},
		{"an error", broken, "broken"},
		{"a conflict is normal", conflict, ""},
		{"a missing object is normal", fmt.Errorf("get: %w", gone), ""},
		{"an error joined with a conflict", errors.Join(forbidden, conflict), "no permission"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			var got string
			ctx, cancel := context.WithCancel(withLog(func(line string) { got += line }))
			queue := controller.NewQueue("")
			queue.Add(oneKey)
			controller.New(queue, func(context.Context, cache.ObjectName) (time.Duration, error) {
				cancel()
				return 0, test.err
			}).Run(ctx, 1)
			if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
				t.Errorf("logged: %q, want %q", got, test.want)
			}
		})
	}
}

func TestRetryIsCappedAndPerKey(t *testing.T) {
	limiter := controller.RateLimiter()
	for i := range 100 {
		key := named(fmt.Sprintf("one-%d", i))
		if first := limiter.When(key); first != 5*time.Millisecond {
			t.Errorf("the first retry of %s waits %s, want 5ms", key, first)
		}
		var last time.Duration
		for range 100 {
			last = limiter.When(key)
		}
		if last != 30*time.Second {
			t.Errorf("after 100 failures %s waits %s, want 30s", key, last)
		}
	}
}

// The end of Run's context does not cancel running reconciles. Waiting keys are dropped.
func TestRunAwaitsWorkers(t *testing.T) {
	inBubble(t, func(t *testing.T, queue controller.Queue) {
		calls, cancelled := 0, false
		var returned atomic.Bool
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			controller.New(queue, func(ctx context.Context, _ cache.ObjectName) (time.Duration, error) {
				calls++
				time.Sleep(10 * time.Second)
				cancelled = ctx.Err() != nil
				return 0, nil
			}).Run(ctx, 1)
			returned.Store(true)
		}()
		queue.Add(oneKey)
		synctest.Wait()
		queue.Add(named("waiting"))
		cancel()
		synctest.Wait()
		if returned.Load() {
			t.Error("Run returned during a reconcile")
		}
		time.Sleep(11 * time.Second)
		synctest.Wait()
		if calls != 1 || cancelled || !returned.Load() {
			t.Errorf("%d reconciles, context canceled: %t, Run returned: %t; want 1, false, true", calls, cancelled, returned.Load())
		}
	})
}

func TestReconcileTimeout(t *testing.T) {
	inBubble(t, func(t *testing.T, queue controller.Queue) {
		took := time.Duration(0)
		run(t, queue, 1, func(ctx context.Context, _ cache.ObjectName) (time.Duration, error) {
			begin := time.Now()
			select {
			case <-ctx.Done():
			case <-time.After(time.Hour):
			}
			took = time.Since(begin)
			return 0, nil
		})
		queue.Add(oneKey)
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if took != controller.ReconcileTimeout {
			t.Errorf("the context ends after %s, want %s", took, controller.ReconcileTimeout)
		}
	})
}

// A lost race is normal, unless it repeats for seconds.
func TestRaceThatLasts(t *testing.T) {
	inBubble(t, func(t *testing.T, queue controller.Queue) {
		var logged atomic.Int32
		ctx, cancel := context.WithCancel(withLog(func(string) { logged.Add(1) }))
		defer cancel()
		go controller.New(queue, func(context.Context, cache.ObjectName) (time.Duration, error) {
			return 0, apierrors.NewConflict(schema.GroupResource{Resource: "widgets"}, "one", errors.New("modified"))
		}).Run(ctx, 1)
		queue.Add(oneKey)
		time.Sleep(5 * time.Second)
		if got := logged.Load(); got != 0 {
			t.Errorf("%d errors are logged in the first 5 s, want none", got)
		}
		time.Sleep(10 * time.Second)
		if logged.Load() == 0 {
			t.Error("no error is logged in 15 s")
		}
	})
}

// When ctx is done, a worker that waits in Get takes no key.
func TestNoKeyAfterTheEnd(t *testing.T) {
	inBubble(t, func(t *testing.T, queue controller.Queue) {
		ctx, cancel := context.WithCancel(context.Background())
		go controller.New(queue, func(context.Context, cache.ObjectName) (time.Duration, error) {
			t.Error("a key was reconciled")
			return 0, nil
		}).Run(ctx, 1)
		synctest.Wait()
		cancel()
		queue.Add(oneKey)
	})
}

// A key that is added during its reconcile is not lost.
func TestOneWorkerPerKey(t *testing.T) {
	queue := controller.NewQueue("")
	var busy, calls atomic.Int32
	begun := make(chan struct{}, 10)
	proceed := make(chan struct{})
	run(t, queue, 4, func(context.Context, cache.ObjectName) (time.Duration, error) {
		if busy.Add(1) > 1 {
			t.Error("two workers have the same key")
		}
		begun <- struct{}{}
		<-proceed
		busy.Add(-1)
		calls.Add(1)
		return 0, nil
	})
	queue.Add(oneKey)
	receive(t, begun, "the first reconcile")
	for range 3 {
		queue.Add(oneKey)
	}
	close(proceed)
	receive(t, begun, "the second reconcile")
	queue.ShutDownWithDrain()
	if got := calls.Load(); got != 2 {
		t.Errorf("%d reconciles, want 2: three additions during a reconcile count as one", got)
	}
}

// A panic counts as an error of one key: this key is retried, and other keys are reconciled as usual.
func TestPanicIsRetried(t *testing.T) {
	queue := controller.NewQueue("")
	calls := make(chan cache.ObjectName, 10)
	var panicked atomic.Bool
	run(t, queue, 1, func(_ context.Context, key cache.ObjectName) (time.Duration, error) {
		calls <- key
		if key == oneKey && panicked.CompareAndSwap(false, true) {
			panic("one bad object")
		}
		return 0, nil
	})
	queue.Add(oneKey)
	for range 2 {
		if key := receive(t, calls, "a reconcile"); key != oneKey {
			t.Errorf("reconciled %s, want %s", key, oneKey)
		}
	}
	other := named("other")
	queue.Add(other)
	if key := receive(t, calls, "the other key's reconcile"); key != other {
		t.Errorf("reconciled %s, want %s", key, other)
	}
}

// If retries hang, workers remain for other keys, including keys that lost a race. In the end all keys have run.
func TestRetriesLeaveWorkers(t *testing.T) {
	inBubble(t, func(t *testing.T, queue controller.Queue) {
		var good, raced atomic.Bool
		var retried atomic.Int32
		run(t, queue, 4, func(ctx context.Context, key cache.ObjectName) (time.Duration, error) {
			switch {
			case key == named("good"):
				good.Store(true)
			case key == named("raced") && queue.NumRequeues(key) == 0:
				return 0, apierrors.NewConflict(schema.GroupResource{}, key.Name, nil)
			case key == named("raced"):
				raced.Store(true)
			case queue.NumRequeues(key) == 0:
				return 0, errors.New("broken")
			default:
				time.Sleep(10 * time.Second)
				retried.Add(1)
			}
			return 0, nil
		})
		for i := range 10 {
			queue.Add(named(fmt.Sprintf("bad-%d", i)))
		}
		time.Sleep(time.Second)
		queue.Add(named("good"))
		queue.Add(named("raced"))
		time.Sleep(time.Second / 2)
		if !good.Load() || !raced.Load() {
			t.Errorf("while failing keys hang, the key without a failure is reconciled: %t, the key that lost a race: %t; want true, true", good.Load(), raced.Load())
		}
		time.Sleep(2 * time.Minute)
		if got := retried.Load(); got != 10 {
			t.Errorf("%d keys were retried, want 10", got)
		}
	})
}
