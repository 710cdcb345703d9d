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
// too, the namespaces take turns (turns.go). A key that has failed may hang the next time, and does not
// get the last quarter of the workers.

// slowFrom is when a reconcile is slow. On a busy machine one that is well may take half of it.
const slowFrom = time.Second

// processIll reconciles a key that has failed, if there is room. Else, and if it was slow, the key
// waits for other workers. The queue that it comes from gives it to nobody before process gives it back.
func (c *Controller) processIll(ctx context.Context, key cache.ObjectName, wasSlow bool) {
	if !wasSlow {
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

// processNextSlow reconciles one key of the slowQueue. It returns false when that is shut down.
func (c *Controller) processNextSlow(ctx context.Context) bool {
	key, shutdown := c.slowQueue.Get()
	if !shutdown {
		c.process(ctx, key)
		c.slowQueue.Done(key)
	}
	return !shutdown
}

// note notes how a reconcile has ended. One that is not done, such as one that waits for its back-off,
// does not make a key well.
func (c *Controller) note(key cache.ObjectName, took, requeueAfter time.Duration, err error) {
	switch {
	case took >= slowFrom:
		c.ill.Store(key, true)
	case err != nil && !isRace(err):
		c.ill.Store(key, false)
	case err == nil && requeueAfter == 0:
		c.ill.Delete(key)
	}
}
