package informer

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// What an informer waits for. Without this file the program cannot say why it is not ready
// (TestWaitForSyncNamesError):
//
//	0 s    The program starts. Its account may not list Foos: 403.
//	1 s    The Reflector tries again, and again. It logs each error and returns none.
//	∞      The program waits, and does nothing.

// WaitForSync returns nil when every informer is synced. It waits as long as there is progress:
// a request waits for its answer, or a stream is open. When an informer's requests have only
// failed for timeout, it returns the errors of Synced. It looks, and logs what it sees, twelve
// times in each timeout.
func WaitForSync(ctx context.Context, timeout time.Duration, informers ...*Informer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	synced := make(chan struct{})
	go func() {
		defer close(synced)
		for _, i := range informers {
			cache.WaitFor(ctx, "", i.controller.HasSyncedChecker())
		}
	}()
	failed := map[*Informer]int{} // looks in a row
	for {
		select {
		case <-synced:
			return context.Cause(ctx) // nil, unless ctx ended the wait
		case <-time.After(timeout / 12):
		}
		var notSynced error
		stalled := false
		for _, i := range informers {
			if err := i.Synced(); err != nil {
				klog.FromContext(ctx).Info("Still listing", "resource", i.Resource, "received", i.received.Load())
				notSynced = errors.Join(notSynced, err)
				if i.failure() == nil || i.asking.Load() > 0 {
					failed[i] = 0
				} else {
					failed[i]++
				}
				stalled = stalled || failed[i] == 12
			}
		}
		if stalled {
			return fmt.Errorf("no progress for %s: %w", timeout, notSynced)
		}
	}
}

// Synced returns nil when the Store holds the objects of the first list and the
// handler was called for each. Until then, its error names the resource and the
// error of the last request. It does not wait.
func (i *Informer) Synced() error {
	last := i.failure()
	switch {
	case i.controller.HasSynced():
		return nil
	case last != nil:
		return fmt.Errorf("%s: %w", i.Resource, last)
	default:
		return fmt.Errorf("%s: the first list is not complete", i.Resource)
	}
}

// Ready returns nil when the informer is synced and may still read. It returns the error of the
// last request if that is 401 or 403: then the Store grows old until an administrator grants the
// right. Other errors do not count. They pass by themselves, and if they counted, a restart of
// the API server would make each of its clients not ready. It does not wait.
func (i *Informer) Ready() error {
	if last := i.failure(); i.controller.HasSynced() && (apierrors.IsForbidden(last) || apierrors.IsUnauthorized(last)) {
		return fmt.Errorf("%s: %w", i.Resource, last)
	}
	return i.Synced()
}

// failure returns the error of the last request, nil if a stream was opened since.
func (i *Informer) failure() error {
	if last := i.lastError.Load(); last != nil {
		return *last
	}
	return nil
}
