package controller

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// reconcileTimeout bounds one reconcile, so that a server that does not answer
// cannot hold a worker, or the exit of the process, for longer.
const reconcileTimeout = 30 * time.Second

// Reconcile brings the object with this key one step closer to what it should be.
// It is called by many goroutines at once, with different keys.
//
//   - nil error, again 0: done, until a handler adds the key again.
//   - nil error, again > 0: look again after that time.
//   - error: look again after the key's own delay, which doubles each time. A panic
//     is an error.
type Reconcile func(ctx context.Context, key cache.ObjectName) (again time.Duration, err error)

// Controller moves keys from a queue to a reconcile.
type Controller struct {
	queue     Queue
	reconcile Reconcile
}

// New returns a controller that has yet to Run.
func New(queue Queue, reconcile Reconcile) *Controller {
	return &Controller{queue: queue, reconcile: reconcile}
}

// Run starts workers and blocks until ctx is done and each worker has finished
// what it had begun. Keys that still wait are dropped: the next process finds
// every object in its first list. Call it once, when the stores are in sync.
func (c *Controller) Run(ctx context.Context, workers int) {
	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			for ctx.Err() == nil && c.processNextItem(ctx) {
			}
		})
	}
	<-ctx.Done()
	// Wakes the workers that wait for a key.
	c.queue.ShutDown()
	running.Wait()
}

// processNextItem reconciles one key. It returns false when the queue is shut
// down and empty.
func (c *Controller) processNextItem(ctx context.Context) bool {
	key, shutdown := c.queue.Get()
	if shutdown {
		return false
	}
	defer c.queue.Done(key)

	// Not cancelled with ctx: a worker that has begun to write finishes.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reconcileTimeout)
	defer cancel()
	again, err := c.safely(ctx, key)
	c.retry(ctx, key, again, err)
	return true
}

// safely turns a panic of the reconcile into an error: one bad object does not end
// the process, and with it the work for all others.
func (c *Controller) safely(ctx context.Context, key cache.ObjectName) (again time.Duration, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			again, err = 0, fmt.Errorf("panic: %v\n%s", reason, debug.Stack())
		}
	}()
	return c.reconcile(ctx, key)
}

// retry is the whole retry policy.
func (c *Controller) retry(ctx context.Context, key cache.ObjectName, again time.Duration, err error) {
	logger := klog.FromContext(ctx)
	switch {
	case err == nil && again == 0:
		c.queue.Forget(key)
	case err == nil:
		c.queue.Forget(key)
		c.queue.AddAfter(key, again)
	case apierrors.IsConflict(err) || apierrors.IsNotFound(err):
		// Somebody else changed or deleted the object first. The event of that change
		// is on its way and wakes the key; the retry is for an event that gets lost.
		logger.V(2).Info("The object has changed, looking again", "key", key, "reason", err)
		c.queue.AddRateLimited(key)
	default:
		logger.Error(err, "Reconcile failed, trying again", "key", key, "failures", c.queue.NumRequeues(key)+1)
		c.queue.AddRateLimited(key)
	}
}
