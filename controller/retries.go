package controller

import (
	"context"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"
)

// Slow retries. Without this file, keys that hang take every worker again and again (TestRetriesLeaveWorkers):
//
//	0 s   In one namespace a webhook does not answer. Each write of its 1,000 Foos fails after 10 s.
//	10 s  The retries begin. From now on, 16 of these keys occupy the 16 workers.
//	20 s  A user creates a Foo elsewhere. It waits for minutes.
//
// So keys whose last reconcile failed after more than a second use at most half of the workers. The first
// reconcile of a key that hangs can use any worker: the controller cannot know in advance that a write will hang.

// limitSlow returns a Reconcile that calls next for at most limit such keys at the same time. Others of them are
// requeued after a second.
func limitSlow(limit int, next Reconcile) Reconcile {
	var slow sync.Map // the keys
	running := make(chan struct{}, limit)
	return func(ctx context.Context, key cache.ObjectName) (requeueAfter time.Duration, err error) {
		if _, isSlow := slow.Load(key); isSlow {
			select {
			case running <- struct{}{}:
				defer func() { <-running }()
			default:
				return time.Second, nil
			}
		}
		begin := time.Now()
		requeueAfter, err = next(ctx, key)
		if err != nil && time.Since(begin) > time.Second {
			slow.Store(key, nil)
		} else {
			slow.Delete(key)
		}
		return requeueAfter, err
	}
}
