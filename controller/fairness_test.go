package controller_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"example.com/byhand/controller"
)

// request is how long a reconcile of a healthy key takes here, in the bubble's time.
const request = 20 * time.Millisecond

// latencies returns how long each of 200 healthy keys waits from being added to
// being reconciled, sorted, while that many other keys fail for good, each after this
// time. Time is the bubble's, so the figures are exact.
func latencies(t *testing.T, failing int, after time.Duration) (sorted []time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		const workers = 16
		queue := controller.NewPriorityQueue("", workers)
		ctx, cancel := context.WithCancel(context.Background())
		ctx = klog.NewContext(ctx, klog.Logger{})
		done := make(chan time.Time, 1)
		go controller.New(queue, func(_ context.Context, key cache.ObjectName) (time.Duration, error) {
			if strings.HasPrefix(key.Name, "failing") {
				time.Sleep(after)
				return 0, errors.New("broken")
			}
			time.Sleep(request)
			done <- time.Now()
			return 0, nil
		}).Run(ctx, workers)

		for i := range failing {
			queue.Add(cache.NewObjectName("default", fmt.Sprintf("failing-%d", i)))
		}
		// Until each of them fails at its slowest.
		time.Sleep(10 * time.Minute)
		for i := range 200 {
			time.Sleep(733 * time.Millisecond)
			added := time.Now()
			queue.Add(cache.NewObjectName("default", fmt.Sprintf("healthy-%d", i)))
			sorted = append(sorted, (<-done).Sub(added))
		}
		cancel()
		// The queue's own goroutines end with its next tick.
		time.Sleep(time.Minute)
	})
	slices.Sort(sorted)
	return sorted
}

// A thousand keys that fail for good leave the latency of the others as it was: at
// the worst, every worker has just begun with one of them.
func TestFailingKeysHarmNobody(t *testing.T) {
	alone, among := latencies(t, 0, 0), latencies(t, 1000, request)
	if want := alone[len(alone)/2]; among[len(among)/2] != want {
		t.Errorf("the median among 1000 that fail is %s, want %s, as without them", among[len(among)/2], want)
	}
	if slowest := among[len(among)-1]; slowest > 2*request {
		t.Errorf("the slowest takes %s, want at most one reconcile's %s more than alone", slowest, request)
	}
}

// A hundred keys whose writes hang until a webhook's timeout leave workers for the others.
func TestFailingKeysLeaveWorkersFree(t *testing.T) {
	among := latencies(t, 100, 10*time.Second)
	if slowest := among[len(among)-1]; slowest > request+time.Second {
		t.Errorf("among 100 that fail after 10s the median takes %s and the slowest %s, want a second more than %s at most", among[len(among)/2], slowest, request)
	}
}

// retried returns a queue for workers many workers, whose keys failing-0, failing-1 and so on
// have failed once. Their delays are over.
func retried(workers, failing int) controller.PriorityQueue {
	queue := controller.NewPriorityQueue("", workers)
	for i := range failing {
		queue.AddRateLimited(named(fmt.Sprintf("failing-%d", i)))
		time.Sleep(time.Second)
	}
	return queue
}

// What is limited is how many workers have a retry, not what else they do.
func TestRetriesAtATime(t *testing.T) {
	failing := func(n int) (names []string) {
		for i := range n {
			names = append(names, fmt.Sprintf("failing-%d", i))
		}
		return names
	}
	for _, test := range []struct {
		reason  string
		workers int
		then    func(queue controller.PriorityQueue)
		want    []string // what workers get that are never done
	}{
		{"half of the workers", 8, func(controller.PriorityQueue) {}, failing(4)},
		{"one at least", 1, func(controller.PriorityQueue) {}, failing(1)},
		{"a change takes one out of the line, which wakes a worker", 4, func(queue controller.PriorityQueue) {
			queue.Add(named("failing-9"))
		}, []string{"failing-9", "failing-0", "failing-1"}},
		{"a resync, too", 4, func(queue controller.PriorityQueue) {
			queue.AddLowPriority(named("failing-9"))
		}, []string{"failing-0", "failing-1", "failing-9"}},
		{"keys of an initial list and of a wait", 2, func(queue controller.PriorityQueue) {
			for i := range 3 {
				queue.AddLowPriority(named(fmt.Sprintf("listed-%d", i)))
			}
			queue.AddAfter(named("waiting"), time.Millisecond)
			time.Sleep(time.Second)
		}, []string{"failing-0", "listed-0", "listed-1", "listed-2", "waiting"}},
		{"one that is done lets the next in", 2, func(queue controller.PriorityQueue) {
			key, _ := queue.Get()
			queue.Forget(key)
			queue.Done(key)
		}, []string{"failing-1"}},
		{"one that waits twice is retried once", 4, func(queue controller.PriorityQueue) {
			queue.AddRateLimited(named("failing-9"))
			time.Sleep(time.Second)
			for i := 0; i < 8 && queue.Len() > 0; i++ {
				key, _ := queue.Get()
				queue.Done(key)
			}
		}, []string{"failing-8", "failing-9"}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				queue := retried(test.workers, 10)
				test.then(queue)
				var got []string
				for queue.Len() > 0 {
					key, _ := queue.Get()
					got = append(got, key.Name)
				}
				if !slices.Equal(got, test.want) {
					t.Errorf("workers get %v, want %v", got, test.want)
				}
				queue.ShutDown()
				time.Sleep(time.Minute) // the queue's own goroutines end with its next tick
			})
		})
	}
}

// A worker that waits gets the change of a key whose retry is over the limit.
func TestChangeOfParkedKeyWakesWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queue := retried(2, 2)
		queue.Get()
		got := make(chan string, 1)
		go func() {
			key, _ := queue.Get()
			got <- key.Name
		}()
		synctest.Wait()
		queue.Add(named("failing-1"))
		synctest.Wait()
		select {
		case name := <-got:
			if name != "failing-1" {
				t.Errorf("the worker gets %s", name)
			}
		default:
			t.Error("the worker still waits")
		}
		queue.ShutDown()
		time.Sleep(time.Minute) // the queue's own goroutines end with its next tick
	})
}
