package controller

import (
	"context"
	"time"

	"k8s.io/client-go/tools/cache"
)

// Slow reconciles. Without this file what hangs takes all workers again and again
// (TestHangingWritesLeaveWorkersFree):
//
//	0 s    In one namespace a webhook does not answer: the write of each of 1,000 Foos fails
//	       after 10 s, and each is tried again. 16 workers always have 16 of them.
//	20 min A person creates a Foo elsewhere. It waits until one of them ends: 10 s, and as long for
//	       each further reconcile.
//
// So a key that was slow within the hour, or has failed within the minute, waits in a queue of its own,
// for workers of its own. There are half as many of these: more requests at a time make a webhook that is
// slow time out. In that queue, too, the namespaces take turns (turns.go). What hangs without a sign of
// it before has the other workers once.

// slowFrom is when a reconcile is slow. On a busy machine one that is well may take half of it.
const slowFrom = time.Second

// slowFor is how long a key counts as slow after a slow reconcile. A quick one proves little: the event of
// a slow write brings one that sends nothing. failedFor is how long it does after one that has failed: it
// is tried again sooner.
const slowFor, failedFor = time.Hour, 2 * longestDelay

// SlowWorkers returns how many workers Run starts for slow keys, beside its workers.
func SlowWorkers(workers int) int { return workers / 2 }

// processOrPutOff reconciles a key, or lets it wait for a slow worker. The queue that it comes from gives
// it to nobody before process gives it back.
func (c *Controller) processOrPutOff(ctx context.Context, key cache.ObjectName) {
	if _, isSlow := c.slow.Get(key); isSlow {
		c.slowQueue.Add(key)
	} else {
		c.process(ctx, key)
	}
}

// processSlow reconciles a key of the slowQueue.
func (c *Controller) processSlow(ctx context.Context, key cache.ObjectName) {
	c.process(ctx, key)
	c.slowQueue.Done(key)
}
