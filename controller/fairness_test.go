package controller_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/controller"
)

// A key that was slow waits for one of half as many workers more. The namespaces take turns, and in each
// the first comes first. What is quick again waits there for an hour, and then has all workers.
func TestSlowKeys(t *testing.T) {
	inBubble(t, func(t *testing.T, queue controller.PriorityQueue) {
		const workers, keys = 2, 40
		var mu sync.Mutex
		var hangs bool
		running := map[string]bool{}
		well := make(chan time.Time, 1)
		run(t, queue, workers, func(_ context.Context, key cache.ObjectName) (time.Duration, error) {
			if key.Name == "well" {
				well <- time.Now()
				return 0, nil
			}
			mu.Lock()
			wait := hangs
			running[key.Name] = true
			mu.Unlock()
			if wait {
				time.Sleep(10 * time.Second)
			}
			mu.Lock()
			defer mu.Unlock()
			delete(running, key.Name)
			return 0, nil
		})
		// add adds all keys, which hang or not, and returns which are running after that time.
		add := func(hang bool, after time.Duration) []string {
			mu.Lock()
			hangs = hang
			mu.Unlock()
			for i := range keys {
				queue.Add(named(fmt.Sprintf("key-%02d", i)))
				synctest.Wait() // Two workers may put two keys off in either order.
			}
			time.Sleep(after)
			mu.Lock()
			defer mu.Unlock()
			return slices.Sorted(maps.Keys(running))
		}
		if got := add(true, 5*time.Second); len(got) != workers {
			t.Errorf("running, when none was slow yet: %q, want %d", got, workers)
		}
		time.Sleep(10 * time.Minute)
		elsewhere := cache.NewObjectName("elsewhere", "key")
		queue.Add(elsewhere)
		time.Sleep(time.Minute)
		got := add(true, 5*time.Second)
		queue.Add(elsewhere)
		for range 3 {
			time.Sleep(10 * time.Second)
			mu.Lock()
			got = append(got, slices.Collect(maps.Keys(running))...)
			mu.Unlock()
		}
		if want := []string{"key-00", "key-01", "key", "key-02"}; !slices.Equal(got, want) {
			t.Errorf("running one after the other, when all were slow: %q, want %q", got, want)
		}
		added := time.Now()
		queue.Add(named("well"))
		if waited := (<-well).Sub(added); waited > 0 {
			t.Errorf("what is well waits %s beside them", waited)
		}
		mu.Lock()
		hangs = false
		mu.Unlock()
		time.Sleep(time.Minute)
		add(false, time.Minute)
		if got := add(true, 5*time.Second); len(got) != 1 {
			t.Errorf("running, when all were quick once: %q, want 1", got)
		}
		time.Sleep(2 * time.Hour)
		if got := add(true, 5*time.Second); len(got) != workers {
			t.Errorf("running, when none was slow for an hour: %q, want %d", got, workers)
		}
	})
}

// One worker reconciles one key at a time, also if they are slow.
func TestOneWorkerIsAlone(t *testing.T) {
	inBubble(t, func(t *testing.T, queue controller.PriorityQueue) {
		var running, done atomic.Int32
		run(t, queue, 1, func(context.Context, cache.ObjectName) (time.Duration, error) {
			if running.Add(1) > 1 {
				t.Error("two reconciles run at the same time")
			}
			time.Sleep(2 * time.Second)
			running.Add(-1)
			done.Add(1)
			return 0, nil
		})
		for range 2 {
			for i := range 5 {
				queue.Add(named(fmt.Sprint("key-", i)))
			}
			time.Sleep(time.Minute)
		}
		if done.Load() != 10 {
			t.Errorf("%d reconciles, want 10", done.Load())
		}
	})
}

// What fails at once, and then begins to hang, leaves the workers to the others.
func TestFailedKeysLeaveWorkersFree(t *testing.T) {
	inBubble(t, func(t *testing.T, queue controller.PriorityQueue) {
		var hangs atomic.Bool
		well := make(chan time.Time, 1)
		run(t, queue, 4, func(_ context.Context, key cache.ObjectName) (time.Duration, error) {
			if key.Name == "well" {
				well <- time.Now()
			} else if hangs.Load() {
				time.Sleep(10 * time.Second)
			} else {
				return 0, errors.New("refused")
			}
			return 0, nil
		})
		for i := range 20 {
			queue.Add(named(fmt.Sprint("failing-", i)))
		}
		time.Sleep(10 * time.Minute)
		hangs.Store(true)
		time.Sleep(time.Minute) // Each is tried once more.
		added := time.Now()
		queue.Add(named("well"))
		if waited := (<-well).Sub(added); waited > 0 {
			t.Errorf("what is well waits %s for what hangs", waited)
		}
	})
}

// A thousand keys whose writes hang until a webhook's timeout leave workers for the others. Time is the
// bubble's, so the figures are exact.
func TestHangingWritesLeaveWorkersFree(t *testing.T) {
	const request = 20 * time.Millisecond // how long a reconcile of a healthy key takes
	inBubble(t, func(t *testing.T, queue controller.PriorityQueue) {
		failures, done := controller.NewFailures(), make(chan time.Time, 1)
		run(t, queue, 16, func(_ context.Context, key cache.ObjectName) (time.Duration, error) {
			if strings.HasPrefix(key.Name, "failing") {
				failure := failures.Try(&metav1.ObjectMeta{UID: types.UID(key.Name)}, controller.Write{Name: "write"}, func() error {
					time.Sleep(10 * time.Second)
					return errors.New("broken")
				})
				if failure.Sent {
					return failure.Wait, failure.Err
				}
				return failure.Wait, nil
			}
			time.Sleep(request)
			done <- time.Now()
			return 0, nil
		})
		for i := range 1000 {
			queue.Add(named(fmt.Sprintf("failing-%d", i)))
		}
		time.Sleep(time.Hour) // until each of them fails at its slowest
		for i := range 200 {
			time.Sleep(733 * time.Millisecond)
			added := time.Now()
			queue.Add(named(fmt.Sprintf("healthy-%d", i)))
			if took := (<-done).Sub(added); took > request+time.Second {
				t.Errorf("among 1000 that fail after 10s key %d takes %s, want a second more than %s at most", i, took, request)
			}
		}
	})
}
