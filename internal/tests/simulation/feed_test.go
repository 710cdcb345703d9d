package simulation

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/kit/testkit"
)

// feed fills a store from the server's changes, as an informer does: in their
// order, some time after they happened.
type feed struct {
	s        *sequence
	resource string
	decode   func(c testkit.Change) any
	store    cache.Indexer
	handler  cache.ResourceEventHandler
	position int // the number of changes that it has seen, of all resources
}

// arrive brings a feed forward by some events, if there are any.
func (s *sequence) arrive(f *feed) bool {
	if !f.behind() {
		return false
	}
	f.advance(1 + s.rand.IntN(3))
	return true
}

// behind reports whether there are events that the store has not seen.
func (f *feed) behind() bool {
	f.skip()
	return !f.s.isHeld(f.resource) && f.position < len(f.s.api.History())
}

func (f *feed) skip() {
	for f.position < len(f.s.api.History()) && !strings.Contains(f.s.api.History()[f.position].Path, "/"+f.resource+"/") {
		f.position++
	}
}

// advance applies a batch of events of different objects: first all to the store, then the handler is called
// for each.
func (f *feed) advance(events int) {
	var calls []func()
	batch := map[string]bool{}
	for f.skip(); events > 0 && f.position < len(f.s.api.History()) && !batch[f.s.api.History()[f.position].Path]; events-- {
		c := f.s.api.History()[f.position]
		f.position++
		batch[c.Path] = true
		object := f.decode(c)
		old, known, _ := f.store.Get(object)
		switch {
		case c.Type == watch.Deleted:
			_ = f.store.Delete(object)
			calls = append(calls, func() { f.handler.OnDelete(object) })
		case known:
			_ = f.store.Update(object)
			calls = append(calls, func() { f.handler.OnUpdate(old, object) })
		default:
			_ = f.store.Add(object)
			calls = append(calls, func() { f.handler.OnAdd(object, false) })
		}
		f.s.note("store", "%s v%d%s", short(c.Path), c.Version, map[bool]string{true: " deleted"}[c.Type == watch.Deleted])
		f.skip()
	}
	for _, call := range calls {
		call()
	}
}

// relist replaces the store by the server's state at this position. The handler gets tombstones for deleted
// objects, and no events.
func (f *feed) relist(position int) {
	f.position = position
	now := map[string]any{}
	newest := "100" // the version of a new server
	for _, c := range f.s.api.History()[:position] {
		newest = strconv.Itoa(c.Version)
		if strings.Contains(c.Path, "/"+f.resource+"/") {
			now[c.Path] = f.decode(c)
			if c.Type == watch.Deleted {
				delete(now, c.Path)
			}
		}
	}
	var objects []any
	var calls []func()
	for _, path := range slices.Sorted(maps.Keys(now)) {
		object := now[path]
		objects = append(objects, object)
		if old, known, _ := f.store.Get(object); known {
			_ = f.store.Delete(old)
			calls = append(calls, func() { f.handler.OnUpdate(old, object) })
		} else {
			calls = append(calls, func() { f.handler.OnAdd(object, true) })
		}
	}
	// The remaining objects in the store are gone.
	var tombstones []func()
	for _, key := range slices.Sorted(slices.Values(f.store.ListKeys())) {
		old, _, _ := f.store.GetByKey(key)
		tombstones = append(tombstones, func() { f.handler.OnDelete(cache.DeletedFinalStateUnknown{Key: key, Obj: old}) })
	}
	_ = f.store.Replace(objects, newest)
	f.s.note("store", "%s: listed as of v%s", f.resource, newest)
	for _, call := range append(tombstones, calls...) {
		call()
	}
}

// relist lets one of the informers list again, at its position or later.
func (s *sequence) relist() bool {
	f := pick(s, []*feed{s.process.foos, s.process.deployments})
	f.relist(f.position + s.rand.IntN(len(s.api.History())-f.position+1))
	return true
}

// resync calls the handlers for all that is in the stores.
func (s *sequence) resync() bool {
	s.note("resync", "")
	s.resyncAll()
	return true
}

func (s *sequence) resyncAll() {
	for _, f := range []*feed{s.process.foos, s.process.deployments} {
		for _, object := range f.store.List() {
			f.handler.OnUpdate(object, object)
		}
	}
}

// typed returns a stored object as a client would decode it. Stores and rules
// share it, so it is never changed.
func typed[T any](s *sequence, object *unstructured.Unstructured) *T {
	if s.typed[object] == nil {
		s.typed[object] = decode[T](s, object)
	}
	return s.typed[object].(*T)
}

func decode[T any](s *sequence, object *unstructured.Unstructured) *T {
	typed := new(T)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, typed); err != nil {
		s.breaks("decode: %v", err)
	}
	return typed
}

// orderedIndexer returns what an index files in the order of the keys, so that a
// sequence is the same each time.
type orderedIndexer struct{ cache.Indexer }

func newOrderedIndexer(indexers cache.Indexers) cache.Indexer {
	return orderedIndexer{cache.NewIndexer(cache.DeletionHandlingMetaNamespaceKeyFunc, indexers)}
}

func (o orderedIndexer) ByIndex(index, value string) ([]any, error) {
	objects, err := o.Indexer.ByIndex(index, value)
	slices.SortFunc(objects, func(a, b any) int {
		return cmp.Compare(cache.MetaObjectToName(a.(metav1.Object)).String(), cache.MetaObjectToName(b.(metav1.Object)).String())
	})
	return objects, err
}
