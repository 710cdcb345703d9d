package main

import (
	"context"
	"errors"
	"log"
	"os"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/tools/judge/reference/bugs"
)

// reconcileTimeout limits one reconcile, so that no request hangs for ever.
const reconcileTimeout = 10 * time.Second

// work takes one key after the other until the queue is shut down.
func (c *fooController) work(ctx context.Context) {
	for {
		key, shutdown := c.queue.Get()
		if shutdown {
			return
		}
		isRetry := c.queue.NumRequeues(key) > 0 && !has(bugs.AllRetry)
		if isRetry && !c.begin() {
			c.queue.AddAfter(key, time.Second)
			c.queue.Done(key)
			continue
		}
		err := c.reconcileInTime(ctx, key)
		for err != nil && has(bugs.HeadOfLine) && ctx.Err() == nil {
			time.Sleep(time.Second)
			err = c.reconcileInTime(ctx, key)
		}
		c.decide(key, err)
		c.queue.Done(key)
		if isRetry {
			<-c.retries
		}
	}
}

// begin lets at most half of the workers retry: a write that hangs does not keep a change
// waiting.
func (c *fooController) begin() bool {
	select {
	case c.retries <- struct{}{}:
		return true
	default:
		return false
	}
}

// reconcileInTime gives up when the API server does not answer in time.
func (c *fooController) reconcileInTime(ctx context.Context, key cache.ObjectName) error {
	ctx, cancel := context.WithTimeout(ctx, reconcileTimeout)
	defer cancel()
	return c.reconcile(ctx, key)
}

// decide is the whole retry policy. A key that failed comes back later, each time twice as
// late, and no other key waits for it.
func (c *fooController) decide(key cache.ObjectName, err error) {
	if err != nil {
		log.Printf("%s: %v", key, err)
	}
	switch {
	case err == nil, errors.Is(err, errTaken): // An event tells when the name is free.
		c.queue.Forget(key)
	case errors.Is(err, errUndone):
		c.queue.Forget(key)
		c.queue.AddAfter(key, undonePause)
	case has(bugs.NoRetry), apierrors.IsInvalid(err) && has(bugs.InvalidIsFinal):
		c.queue.Forget(key)
	case has(bugs.NoBackoff):
		c.queue.Add(key)
	case has(bugs.ExitsOn5xx) && (apierrors.IsInternalError(err) || apierrors.IsServiceUnavailable(err)):
		os.Exit(1)
	default:
		c.queue.AddRateLimited(key)
	}
	if has(bugs.PollWrites) {
		c.queue.AddAfter(key, time.Second)
	}
}
