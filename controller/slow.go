package controller

import (
	"context"
	"time"

	"k8s.io/client-go/tools/cache"
)

// Slow reconciles. Without this file a write that hangs takes a worker from the others
// (TestHangingWritesLeaveWorkersFree):
//
//	0.0 s  In one namespace a webhook does not answer: the write of each of 1,000 Foos fails
//	       after 10 s. 16 workers always have 16 of them.
//	0.1 s  A person creates a Foo elsewhere. Its key is behind all of them.
//	11 min A worker takes it.
//
// So a worker waits for a reconcile for a second, and then takes the next key. A key whose last
// reconcile took longer has workers of its own, and a queue, in which the first comes first. What is
// well never waits for them: a thousand Foos whose writes begin to hang hold 16 workers for a minute,
// once.

// slowFrom is when a reconcile is slow. On a busy machine one that is well may take half of it.
const slowFrom = time.Second

// slowWorkers is how many workers there are for slow keys, for each one for the others. They wait most
// of the time.
const slowWorkers = 4

// handOver has a key of the queue reconciled, and returns when that has ended or after a second. A slow
// key only takes its place in the other queue. In both cases the key is the caller's no more: process
// gives it back.
func (c *Controller) handOver(ctx context.Context, key cache.ObjectName) {
	if _, isSlow := c.slow.Load(key); isSlow {
		c.slowQueue.Add(key)
		return
	}
	ended := make(chan struct{})
	c.running.Go(func() {
		c.process(ctx, key)
		close(ended)
	})
	select {
	case <-ended:
	case <-time.After(slowFrom):
	}
}

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
