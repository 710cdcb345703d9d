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

// request is how long a reconcile takes here, in the bubble's time.
const request = 20 * time.Millisecond

// latencies returns how long each of 200 healthy keys waits from being added to
// being reconciled, sorted, while that many other keys fail for good. Time is the
// bubble's, so the figures are exact.
func latencies(t *testing.T, failing int) (sorted []time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		queue := controller.NewQueue("")
		ctx, cancel := context.WithCancel(context.Background())
		ctx = klog.NewContext(ctx, klog.Logger{})
		done := make(chan time.Time, 1)
		go controller.New(queue, func(_ context.Context, key cache.ObjectName) (time.Duration, error) {
			time.Sleep(request)
			if strings.HasPrefix(key.Name, "failing") {
				return 0, errors.New("broken")
			}
			done <- time.Now()
			return 0, nil
		}).Run(ctx, 8)

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
	alone, among := latencies(t, 0), latencies(t, 1000)
	if want := alone[len(alone)/2]; among[len(among)/2] != want {
		t.Errorf("the median among 1000 that fail is %s, want %s, as without them", among[len(among)/2], want)
	}
	if slowest := among[len(among)-1]; slowest > 2*request {
		t.Errorf("the slowest takes %s, want at most one reconcile's %s more than alone", slowest, request)
	}
}
