package informer

import (
	"context"
	"fmt"
	"time"

	"k8s.io/klog/v2"
)

// What an informer waits for. Without this file the program cannot say why it is not ready
// (TestWaitForSyncNamesError):
//
//	0 s    The program starts. Its account may not list Foos: 403.
//	1 s    The Reflector tries again, and again. It logs each error and returns none.
//	60 s   The program ends: "not synced after 1m0s".

// Synced returns nil when the Store holds the objects of the first list and the
// handler was called for each. Until then, its error names the resource and the
// error of the last request. It does not wait.
func (i *Informer) Synced() error {
	last := i.lastError.Load()
	switch {
	case i.controller.HasSynced():
		return nil
	case last != nil && *last != nil:
		return fmt.Errorf("%s: %w", i.Resource, *last)
	default:
		return fmt.Errorf("%s: the first list is not complete", i.Resource)
	}
}

// recordError keeps the error of the last list or watch request, nil too, for
// Synced, and returns it. The Reflector itself only logs an error and retries.
func (i *Informer) recordError(err error) error {
	i.lastError.Store(&err)
	return err
}

// progressPeriod is how often WaitForSync logs its progress.
const progressPeriod = 5 * time.Second

// logProgress logs every period how many objects each informer that is not synced
// has received, until ctx is done.
func logProgress(ctx context.Context, period time.Duration, informers ...*Informer) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(period):
		}
		for _, i := range informers {
			if i.Synced() != nil {
				klog.FromContext(ctx).Info("Still listing", "resource", i.Resource, "received", i.received.Load())
			}
		}
	}
}
