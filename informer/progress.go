package informer

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
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

// recordErrors returns a ListWatch that passes every request on and keeps its error, nil
// too, for Synced. The Reflector itself only logs an error and retries.
func (i *Informer) recordErrors(next *cache.ListWatch) *cache.ListWatch {
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			list, err := next.ListWithContextFunc(ctx, opts)
			i.lastError.Store(&err)
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
			stream, err := next.WatchFuncWithContext(ctx, opts)
			i.lastError.Store(&err)
			return stream, err
		},
	}
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
