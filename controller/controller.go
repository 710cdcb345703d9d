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

// ReconcileTimeout limits one reconcile, so that a hanging request blocks neither a worker nor the exit forever.
const ReconcileTimeout = 30 * time.Second

// Reconcile compares the current and the desired state of the object that key names, and writes the
// differences. Workers call it concurrently, with different keys.
//
//   - nil error, requeueAfter 0: done, until a handler enqueues the key again.
//   - nil error, requeueAfter > 0: not done. The key is reconciled again after that time. Unlike in
//     controller-runtime, this does not reset the key's back-off.
//   - error: logged. The key is reconciled again after its back-off. A panic counts as an error.
type Reconcile func(ctx context.Context, key cache.ObjectName) (requeueAfter time.Duration, err error)

// Controller passes the keys of a queue to a Reconcile.
type Controller struct {
	queue     Queue
	reconcile Reconcile
}

// New returns a controller. Run starts it.
func New(queue Queue, reconcile Reconcile) *Controller {
	return &Controller{queue: queue, reconcile: reconcile}
}

// Run starts the workers. When ctx is done, it waits for their current reconciles and returns. It drops
// waiting keys; the next process enqueues them again. Call Run once, after the stores have synced: in an
// empty store, every Deployment looks missing.
func (c *Controller) Run(ctx context.Context, workers int) {
	// A failing key may hang: such keys use at most half of the workers (retries.go).
	c.reconcile = limitFailing(max(1, workers/2), c.reconcile)
	var running sync.WaitGroup
	for range workers {
		running.Go(func() { c.runWorker(ctx) })
	}
	<-ctx.Done()
	c.queue.ShutDown() // wakes the workers that wait in Get
	running.Wait()
}

func (c *Controller) runWorker(ctx context.Context) {
	for {
		key, shutdown := c.queue.Get()
		if shutdown || ctx.Err() != nil {
			return
		}
		c.process(ctx, key)
	}
}

func (c *Controller) process(ctx context.Context, key cache.ObjectName) {
	defer c.queue.Done(key)

	// The end of ctx does not cancel a running reconcile: a request that is cut off may or may not have
	// taken effect.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ReconcileTimeout)
	defer cancel()
	requeueAfter, err := c.reconcileSafely(ctx, key)
	logger := klog.FromContext(ctx)
	switch {
	case err == nil && requeueAfter == 0:
		c.queue.Forget(key)
	case err == nil:
		c.queue.AddAfter(key, requeueAfter)
	case IsRace(err) && c.queue.NumRequeues(key) < 10: // Ten back-offs take about 5 s.
		logger.V(2).Info("Reconcile lost a race, retrying", "key", key, "reason", err)
		c.queue.AddRateLimited(key)
	default:
		logger.Error(err, "Reconcile failed, retrying", "key", key)
		c.queue.AddRateLimited(key)
	}
}

// reconcileSafely turns a panic into an error: one bad object does not end the process.
func (c *Controller) reconcileSafely(ctx context.Context, key cache.ObjectName) (requeueAfter time.Duration, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			requeueAfter, err = 0, fmt.Errorf("panic: %v\n%s", reason, debug.Stack())
		}
	}()
	return c.reconcile(ctx, key)
}

// IsRace reports whether a request failed because another client changed, deleted or created the object
// first. This is normal. If err joins several errors, the first one decides.
func IsRace(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsNotFound(err) || apierrors.IsAlreadyExists(err)
}

// IsRejected reports whether the API server rejected a request, for example because of a quota, an
// admission policy or a missing permission.
func IsRejected(err error) bool {
	// A webhook may return only a status code. These functions check it, too.
	return apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsRequestEntityTooLargeError(err)
}
