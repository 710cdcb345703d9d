package main

import (
	"sync"

	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// The FIFO. Without it the Reflector changes the store and calls the handlers itself
// (TestStories/deletion_missed, TestStories/slow_handler):
//
//	0.0 s  A relist after 410 goes through 5,000 Foos, and calls a handler for each.
//	0.1 s  A worker looks up a Foo and its Deployment in a store that is half old, half new.
//	0.2 s  A Foo that was deleted meanwhile is not in the list, so no handler is called for
//	       it. It stays in the store, and its Deployment is kept up to date forever.
//	30 s   The handlers are slow. Meanwhile the watch is not read, and the server ends it
//	       repeatedly: it does not wait for a slow reader.
//
// So deltas wait in order, and a list is one step: the store changes from old to new at once,
// and an object that is not in the list is a deletion.

// buffer is an unbounded first-in, first-out queue. Its zero value is empty.
type buffer[T any] struct {
	mu     sync.Mutex
	ready  sync.Cond
	items  []T
	closed bool
}

func (b *buffer[T]) put(item T) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.items = append(b.items, item)
	b.ready.Signal()
}

// take waits for the next item. ok is false when the buffer is closed and empty.
func (b *buffer[T]) take() (item T, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ready.L == nil {
		b.ready.L = &b.mu // Wait unlocks it meanwhile
	}
	for len(b.items) == 0 && !b.closed {
		b.ready.Wait()
	}
	if len(b.items) == 0 {
		return item, false
	}
	item, b.items[0] = b.items[0], item // so that the array does not keep the item in memory
	b.items = b.items[1:]
	return item, true
}

func (b *buffer[T]) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.ready.Broadcast()
}

// fifo is ours or cache.RealFIFO.
type fifo interface {
	cache.ReflectorStore
	cache.ReflectorBookmarkStore
	Pop(process cache.PopProcessFunc) (any, error)
	Close()
}

type FIFO struct{ buffer[cache.Delta] }

func (f *FIFO) add(what cache.DeltaType, object any) error {
	f.put(cache.Delta{Type: what, Object: object})
	return nil
}

func (f *FIFO) Add(object any) error    { return f.add(cache.Added, object) }
func (f *FIFO) Update(object any) error { return f.add(cache.Updated, object) }
func (f *FIFO) Delete(object any) error { return f.add(cache.Deleted, object) }

func (f *FIFO) Replace(objects []any, version string) error {
	return f.add(cache.ReplacedAll, cache.ReplacedAllInfo{Objects: objects, ResourceVersion: version})
}

// Resync calls the handlers for each object in the store.
func (f *FIFO) Resync() error { return f.add(cache.SyncAll, cache.SyncAllInfo{}) }

func (f *FIFO) Bookmark(version string) error {
	return f.add(cache.Bookmark, cache.BookmarkInfo{ResourceVersion: version})
}

// Pop waits for a delta and processes it without the lock, so the Reflector can add more. After Close
// it returns cache.ErrFIFOClosed.
func (f *FIFO) Pop(process cache.PopProcessFunc) (any, error) {
	delta, ok := f.take()
	if !ok {
		return nil, cache.ErrFIFOClosed
	}
	return nil, process(cache.Deltas{delta}, false)
}

type call func(*listener)

// apply changes the store, then calls the handlers: the store is at least as new as the event.
func apply(store cache.Store, tell func(call), delta cache.Delta, isInInitialList bool) {
	switch object := delta.Object.(type) {
	case cache.ReplacedAllInfo:
		klog.V(1).Infof("the store takes a list of %d objects, version %s", len(object.Objects), object.ResourceVersion)
		replace(store, tell, object, isInInitialList)
	case cache.SyncAllInfo:
		klog.V(1).Infof("a resync: calling the handlers for all objects")
		for _, object := range store.List() {
			tell(addOrUpdate(object, object, false))
		}
	case cache.BookmarkInfo:
		store.Bookmark(object.ResourceVersion)
	default:
		before, existed, _ := store.GetByKey(keyOf(object))
		klog.V(1).Infof("the store takes %s %s (existed: %t)", delta.Type, keyOf(object), existed)
		if delta.Type == cache.Deleted {
			_ = store.Delete(object)
			tell(func(l *listener) { l.handler.OnDelete(object) })
			return
		}
		_ = store.Update(object)
		tell(addOrUpdate(before, object, isInInitialList))
	}
}

func addOrUpdate(before, object any, isInInitialList bool) call {
	if before == nil {
		return func(l *listener) { l.handler.OnAdd(object, isInInitialList) }
	}
	return func(l *listener) { l.handler.OnUpdate(before, object) }
}

// replace is one step for readers. Handlers first get a deletion for each object not in the list.
func replace(store cache.Store, tell func(call), list cache.ReplacedAllInfo, isInInitialList bool) {
	before := map[string]any{}
	for _, object := range store.List() {
		before[keyOf(object)] = object
	}
	_ = store.Replace(list.Objects, list.ResourceVersion)
	for key, object := range before {
		if _, exists, _ := store.GetByKey(key); !exists {
			klog.V(1).Infof("the list lacks %s: a tombstone", key)
			tell(func(l *listener) { l.handler.OnDelete(cache.DeletedFinalStateUnknown{Key: key, Obj: object}) })
		}
	}
	for _, object := range list.Objects {
		tell(addOrUpdate(before[keyOf(object)], object, isInInitialList))
	}
}
