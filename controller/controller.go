package controller

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilcache "k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
)

// ReconcileTimeout limits one reconcile. After it the worker moves on and the process can end,
// even if the server never answers.
const ReconcileTimeout = 30 * time.Second

// Reconcile compares the current state of the object with this key with its desired
// state and sends what differs. Workers call it concurrently, with different keys.
//
//   - nil error, requeueAfter 0: done, until a handler adds the key again.
//   - nil error, requeueAfter > 0: reconcile the key again after that time. It is not done:
//     its failures still count.
//   - error: log it, and reconcile the key again after its back-off, which doubles each time,
//     or after requeueAfter if that is > 0 and sooner. A panic is an error.
type Reconcile func(ctx context.Context, key cache.ObjectName) (requeueAfter time.Duration, err error)

// Controller moves keys from a queue to a reconcile.
type Controller struct {
	queue     Queue
	reconcile Reconcile
	// slow has the keys of which a reconcile was slow within the hour (true) or has failed within the
	// minute (false), slowQueue those of them that wait for workers of their own (slow.go).
	slow      *utilcache.LRUExpireCache
	slowQueue workqueue.TypedInterface[cache.ObjectName]
}

// New returns a controller. Run starts it.
func New(queue Queue, reconcile Reconcile) *Controller {
	slowQueue := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[cache.ObjectName]{Queue: newTurns()})
	return &Controller{queue: queue, reconcile: reconcile, slow: utilcache.NewLRUExpireCache(mostRemembered), slowQueue: slowQueue}
}

// Run starts workers, and half as many for slow keys, and returns when ctx is done and each worker has
// finished its key. One worker stays alone: then no two reconciles run at the same time.
// No worker takes a key that still waits: the first list of the next process adds it again.
// Call it once, when the stores are in sync: to an empty store, every Deployment is missing.
func (c *Controller) Run(ctx context.Context, workers int) {
	process := c.processOrPutOff
	if SlowWorkers(workers) == 0 {
		process = c.process
	}
	var running sync.WaitGroup
	for range workers {
		running.Go(func() { c.runWorker(ctx, c.queue, process) })
	}
	for range SlowWorkers(workers) {
		running.Go(func() { c.runWorker(ctx, c.slowQueue, c.processSlow) })
	}
	<-ctx.Done()
	// Wakes the workers that wait in Get.
	c.queue.ShutDown()
	c.slowQueue.ShutDown()
	running.Wait()
}

// runWorker takes keys, one after the other, and has each reconciled, or put off (slow.go), until the end.
func (c *Controller) runWorker(ctx context.Context, queue workqueue.TypedInterface[cache.ObjectName], process func(context.Context, cache.ObjectName)) {
	for {
		key, shutdown := queue.Get()
		if shutdown || ctx.Err() != nil {
			return
		}
		process(ctx, key)
	}
}

// process reconciles one key and gives it back to the queue.
func (c *Controller) process(ctx context.Context, key cache.ObjectName) {
	defer c.queue.Done(key)

	// Not cancelled with ctx: a worker finishes what it has begun. Otherwise a request could
	// be cut off, and it would be unknown whether it took effect.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ReconcileTimeout)
	defer cancel()
	began := time.Now()
	requeueAfter, err := c.reconcileSafely(ctx, key)
	switch wasSlow, _ := c.slow.Get(key); {
	case time.Since(began) >= slowFrom:
		c.slow.Add(key, true, slowFor)
	case err != nil && !isRace(err) && wasSlow != true:
		c.slow.Add(key, false, failedFor) // It may hang the next time.
	}
	c.retry(ctx, key, requeueAfter, err)
}

// reconcileSafely calls the reconcile. A panic becomes an error: one bad object does not
// end the process.
func (c *Controller) reconcileSafely(ctx context.Context, key cache.ObjectName) (requeueAfter time.Duration, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			requeueAfter, err = 0, fmt.Errorf("panic: %v\n%s", reason, debug.Stack())
		}
	}()
	return c.reconcile(ctx, key)
}

// retry decides when the key comes back. A reconcile may wait longer by itself: for the cache
// (readyourwrites.go), or for its back-off, when an event brings the key sooner (failures.go).
func (c *Controller) retry(ctx context.Context, key cache.ObjectName, requeueAfter time.Duration, err error) {
	switch logger := klog.FromContext(ctx); {
	case err == nil && requeueAfter == 0:
		c.queue.Forget(key)
	case isRace(err):
		// The event of what the other client did adds the key; the retry covers a missed event.
		logger.V(2).Info("The object has changed, retrying", "key", key, "reason", err)
	case err != nil:
		logger.Error(err, "Reconcile failed, retrying", "key", key)
	}
	if err != nil {
		c.queue.AddRateLimited(key)
	}
	if requeueAfter > 0 {
		c.queue.AddAfter(key, requeueAfter)
	}
}

// isRace reports whether a write failed because another client has changed, deleted or created
// the object first, which is normal. One of several errors must not hide the others:
// IsConflict alone would ask the first of them.
func isRace(err error) bool {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return !slices.ContainsFunc(joined.Unwrap(), func(err error) bool { return !isRace(err) })
	}
	return apierrors.IsConflict(err) || apierrors.IsNotFound(err) || apierrors.IsAlreadyExists(err)
}
