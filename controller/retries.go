package controller

import (
	"context"
	"time"

	"k8s.io/client-go/tools/cache"
)

// Retries. Without this file, keys that hang take every worker again and again (TestRetriesLeaveWorkers):
//
//	0 s   In one namespace a webhook does not answer. Each write of its 1,000 Foos fails after 10 s.
//	10 s  The retries begin. From now on, 16 of these keys occupy the 16 workers.
//	20 s  A user creates a Foo elsewhere. It waits for minutes.
//
// So keys whose last reconcile failed use at most half of the workers. The first reconcile of a key that
// hangs can use any worker: the controller cannot know in advance that a write will hang.

// limitRetries returns a Reconcile that calls next for at most limit failing keys at the same time. Other
// failing keys are requeued after a second.
func limitRetries(queue Queue, limit int, next Reconcile) Reconcile {
	running := make(chan struct{}, limit)
	return func(ctx context.Context, key cache.ObjectName) (requeueAfter time.Duration, err error) {
		if queue.NumRequeues(key) == 0 {
			return next(ctx, key)
		}
		select {
		case running <- struct{}{}:
			defer func() { <-running }()
			return next(ctx, key)
		default:
			return time.Second, nil
		}
	}
}
