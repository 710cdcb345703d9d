package informer

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// Informer keeps one resource in memory. Make it with NewProjects, NewFoos or
// NewDeployments, call Run once, and read Store at any time from any goroutine.
type Informer struct {
	// Resource is the plural and the group, as kubectl prints it.
	Resource string
	// Store holds the objects by "namespace/name", and by the resource's indexes.
	// It is filled when WaitForSync has returned nil. Only read it.
	Store cache.Indexer

	controller cache.Controller
	lastError  atomic.Pointer[error]
	received   atomic.Int64
}

// progressPeriod is how often a WaitForSync that takes long says how far it is.
const progressPeriod = 5 * time.Second

// Run lists, watches and calls the handler until ctx is done.
func (i *Informer) Run(ctx context.Context) {
	i.controller.RunWithContext(ctx)
}

// WaitForSync returns nil when each store holds the objects of the first list and
// the handlers were called for them. If that takes longer than timeout, its error
// names the resources that are missing and the last error that each one met.
func WaitForSync(ctx context.Context, timeout time.Duration, informers ...*Informer) error {
	waitCtx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	go logProgress(waitCtx, progressPeriod, informers...)

	var notSynced error
	for _, i := range informers {
		cache.WaitFor(waitCtx, "", i.controller.HasSyncedChecker())
		notSynced = errors.Join(notSynced, i.Synced())
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case notSynced != nil:
		return fmt.Errorf("not synced after %s: %w", timeout, notSynced)
	default:
		return nil
	}
}

// Synced returns nil when the store holds the objects of the first list and the
// handler was called for them. Before that, its error names the resource and the
// last error that it met. It does not wait.
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

// recordError keeps the outcome of a list or watch for WaitForSync, and returns it.
// The Reflector retries by itself and only logs what went wrong.
func (i *Informer) recordError(err error) error {
	i.lastError.Store(&err)
	return err
}

// logProgress logs every period how much has arrived, until ctx is done.
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

// dropManagedFields removes what the API server notes about who wrote which
// field: a good part of a small object, and nobody here reads it. A transform runs
// before an object enters the store, and a second time on the same object after a
// streaming list, so it must bear that.
func (i *Informer) dropManagedFields(obj any) (any, error) {
	if accessor, err := meta.Accessor(obj); err == nil && accessor.GetManagedFields() != nil {
		accessor.SetManagedFields(nil)
		i.received.Add(1)
	}
	return obj, nil
}

// byIndex returns the objects that an index files under value.
func byIndex[T any](store cache.Indexer, index, value string) []T {
	objects, err := store.ByIndex(index, value)
	if err != nil {
		panic(err) // the store was made without this index
	}
	typed := make([]T, 0, len(objects))
	for _, obj := range objects {
		typed = append(typed, obj.(T))
	}
	return typed
}
