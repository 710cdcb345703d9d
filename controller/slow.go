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
// half as many of these: more requests at a time make a webhook that is slow time out.

// slowFrom is when a reconcile is slow. On a busy machine one that is well may take half of it.
const slowFrom = time.Second

// processNextSlow reconciles one slow key. It returns false when their queue is shut down.
func (c *Controller) processNextSlow(ctx context.Context) bool {
	key, shutdown := c.slowQueue.Get()
	if !shutdown {
		c.process(ctx, key)
		c.slowQueue.Done(key)
	}
	return !shutdown
}

// note notes how long the reconcile of a key took.
func (c *Controller) note(key cache.ObjectName, took time.Duration) {
	if took >= slowFrom {
		c.slow.Store(key, nil)
	} else {
		c.slow.Delete(key)
	}
}
