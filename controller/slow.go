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
// So a key whose last reconcile was slow waits in a queue of its own, for workers of its own. There are
// half as many of these: more requests at a time make a webhook that is slow time out. In that queue,
// too, the namespaces take turns (turns.go). A key that has failed or was slow within the hour may hang
// the next time, and does not get the last quarter of the workers.

// slowFrom is when a reconcile is slow. On a busy machine one that is well may take half of it.
const slowFrom = time.Second

// illFor is how long it counts that a key has failed or was slow. A quick reconcile proves little: the
// event of a slow write brings one that sends nothing.
const illFor = time.Hour

// SlowWorkers returns how many workers Run starts for slow keys, beside its workers.
func SlowWorkers(workers int) int { return workers / 2 }

// processOrPutOff reconciles a key. If its last reconcile was slow, or if it is ill and there is no room, it
// waits for a slow worker; one worker that is alone has none. The queue that it comes from gives it to
// nobody before process gives it back.
func (c *Controller) processOrPutOff(ctx context.Context, key cache.ObjectName) {
	wasSlow, isIll := c.ill.Get(key)
	if !isIll || cap(c.retries) == 0 {
		c.process(ctx, key)
		return
	}
	if wasSlow == false {
		select {
		case c.retries <- struct{}{}:
			c.process(ctx, key)
			<-c.retries
			return
		default:
		}
	}
	c.slowQueue.Add(key)
}

// processSlow reconciles a key of the slowQueue.
func (c *Controller) processSlow(ctx context.Context, key cache.ObjectName) {
	c.process(ctx, key)
	c.slowQueue.Done(key)
}

// note notes how a reconcile has ended. One that is not done, such as one that waits for its back-off,
// was not quick.
func (c *Controller) note(key cache.ObjectName, took, requeueAfter time.Duration, err error) {
	wasSlow, isIll := c.ill.Get(key)
	done, failed := err == nil && requeueAfter == 0, err != nil && !isRace(err)
	switch {
	case took >= slowFrom:
		c.ill.Set(key, true, illFor)
	case wasSlow == true && (done || failed), !isIll && failed:
		c.ill.Set(key, false, illFor)
	}
}
