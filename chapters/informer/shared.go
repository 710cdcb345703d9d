package main

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
)

// One watch for several handlers. Without it each handler has a separate Reflector and store,
// or all are called in a row (TestStories/slow_handler, TestStories/late_handler):
//
//	0 s   Twelve controllers of one program use Deployments: twelve watches, and twelve
//	      copies of 10,000 Deployments in memory.
//	1 s   So they share one watch, and a loop calls one handler after the other. The third
//	      handler calls a service for each object, half a second each time: the other eleven
//	      get no events for 83 minutes.
//	2 s   A thirteenth handler joins. The events for existing objects have passed, so it only
//	      gets later changes.
//	3 s   The store has synced, and the workers start. The handlers have not: an index or a
//	      counter that they compute from events is half complete.
//
// So each handler has a buffer, which is unbounded, and a goroutine.

// Informer fills a store from a FIFO, and calls handlers. Call RunWithContext once; the other methods
// are safe for concurrent use.
type Informer struct {
	cache.SharedIndexInformer // nil: the methods that no controller calls would panic

	reflect func(context.Context) // the Reflector's Run
	fifo    fifo
	store   cache.Indexer
	resync  time.Duration // more than 0

	// mu is held while the store changes and the calls are put into the buffers. So a handler
	// that joins finds each object either in the store or in its buffer, never in both.
	mu        sync.Mutex
	listeners []*listener
	synced    bool // the first list is in the buffers
	stopped   atomic.Bool
	running   sync.WaitGroup
}

func (i *Informer) GetIndexer() cache.Indexer { return i.store }

// RunWithContext returns when ctx is done, and no request or handler runs any more.
func (i *Informer) RunWithContext(ctx context.Context) {
	i.running.Go(func() { i.reflect(ctx) })
	i.running.Go(func() {
		_ = wait.PollUntilContextCancel(ctx, i.resync, false, func(context.Context) (bool, error) { return false, i.fifo.Resync() })
	})
	defer context.AfterFunc(ctx, i.fifo.Close)()
	for ctx.Err() == nil {
		_, _ = i.fifo.Pop(i.process)
	}
	i.mu.Lock()
	i.stopped.Store(true)
	for _, l := range i.listeners {
		l.calls.Close()
	}
	i.mu.Unlock()
	i.running.Wait()
}

func (i *Informer) process(deltas any, _ bool) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, delta := range deltas.(cache.Deltas) {
		apply(i.store, i.tell, delta, !i.synced)
		if delta.Type == cache.ReplacedAll && !i.synced {
			i.synced = true
			i.tell(hasSynced)
		}
	}
	return nil
}

func (i *Informer) tell(c call) {
	for _, l := range i.listeners {
		l.calls.put(c)
	}
}

// listener is a handler with its buffer, and its registration.
type listener struct {
	handler cache.ResourceEventHandler
	calls   buffer[call]
	synced  chan struct{}
}

// AddEventHandler calls a handler from now on, first for the objects in the store. The handler has synced
// when hasSynced is called, after the calls for the first list. Its goroutine ends with RunWithContext.
func (i *Informer) AddEventHandler(handler cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.stopped.Load() {
		return nil, errors.New("the informer has stopped")
	}
	l := &listener{handler: handler, synced: make(chan struct{})}
	i.listeners = append(i.listeners, l)
	i.running.Go(func() {
		for next, ok := l.calls.take(); ok && !i.stopped.Load(); next, ok = l.calls.take() {
			next(l)
		}
	})
	for _, object := range i.store.List() {
		l.calls.put(addOrUpdate(nil, object, true))
	}
	if i.synced {
		l.calls.put(hasSynced)
	}
	return l, nil
}

func hasSynced(l *listener) { close(l.synced) }

func (l *listener) HasSynced() bool                     { return cache.IsDone(l) }
func (l *listener) HasSyncedChecker() cache.DoneChecker { return l }
func (l *listener) Done() <-chan struct{}               { return l.synced }
func (l *listener) Name() string                        { return "handler" }
