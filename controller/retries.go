package controller

import (
	"context"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"
)

// Retries. Without this file, keys that hang take every worker again and again (TestRetriesLeaveWorkers):
//
//	0 s   In one namespace a webhook does not answer. Each write of its 1,000 Foos fails after 10 s.
//	10 s  The retries begin. From now on, 16 of these keys occupy the 16 workers.
//	20 s  A user creates a Foo elsewhere. It waits for minutes.
//
// So keys whose last reconcile failed use at most half of the workers; a lost race is no failure. The first
// reconcile of a key can use any worker: the controller cannot know in advance that a write will hang.

// limitFailing returns a Reconcile that calls next, but never for more than limit failing keys at the same time.
// Other failing keys are requeued after a second.
func limitFailing(limit int, next Reconcile) Reconcile {
	var failing sync.Map // the keys
	running := make(chan struct{}, limit)
	return func(ctx context.Context, key cache.ObjectName) (requeueAfter time.Duration, err error) {
		if _, isFailing := failing.Load(key); isFailing {
			select {
			case running <- struct{}{}:
				defer func() { <-running }()
			default:
				return time.Second, nil
			}
		}
		requeueAfter, err = next(ctx, key)
		if err != nil && !IsRace(err) {
			failing.Store(key, nil)
		} else {
			failing.Delete(key)
		}
		return requeueAfter, err
	}
}
