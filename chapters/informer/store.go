package main

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"
)

// The store. Without it there is a map with a lock (TestStore):
//
//	0.00 s  A Deployment changes. Which others does its Foo own? A loop reads 10,000 Deployments,
//	        under the lock. A rollout makes 10,000 such changes.
//	0.10 s  The owner of a Deployment changes. A second map, from owners to Deployments, still
//	        has it under the old one: two Foos write it.
//	0.20 s  A worker changes the object that it got from the map. The server does not have that
//	        change, and every reader sees it. (No store can prevent this: copy, then change.)
//	0.30 s  A worker has created a Deployment and asks whether the map shows that yet. A map
//	        has no version.
//
// So objects and indices change together, under one lock, and the store has the version of
// its last change.

func keyOf(object any) string { return cache.MetaObjectToName(object.(metav1.Object)).String() }

// Store holds objects by key and by index values. They must not be modified.
type Store struct {
	cache.Indexer // nil: the methods that no controller calls would panic

	mu       sync.RWMutex
	objects  map[string]any
	indexers cache.Indexers
	index    map[indexed]sets.Set[string] // the keys
	version  string
}

// indexed is a value in the index of this name.
type indexed struct{ name, value string }

func NewStore(indexers cache.Indexers) *Store {
	s := &Store{indexers: indexers}
	_ = s.Replace(nil, "")
	return s
}

// Add, Update and Delete also set the store's version to the object's.
func (s *Store) Add(object any) error    { return s.change(object, object) }
func (s *Store) Update(object any) error { return s.change(object, object) }
func (s *Store) Delete(object any) error { return s.change(object, nil) }

func (s *Store) change(object, after any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.set(keyOf(object), after)
	s.version = object.(metav1.Object).GetResourceVersion()
	return nil
}

// Replace makes this list the content, atomically for readers.
func (s *Store) Replace(objects []any, version string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects, s.index, s.version = map[string]any{}, map[indexed]sets.Set[string]{}, version
	for _, object := range objects {
		s.set(keyOf(object), object)
	}
	return nil
}

func (s *Store) Bookmark(version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version = version
}

// set stores an object (nil deletes it) under a key, and updates the key in each index.
func (s *Store) set(key string, after any) {
	for _, at := range s.places(s.objects[key]) {
		if delete(s.index[at], key); len(s.index[at]) == 0 {
			delete(s.index, at) // otherwise every old value stays in memory
		}
	}
	for _, at := range s.places(after) {
		if s.index[at] == nil {
			s.index[at] = sets.Set[string]{}
		}
		s.index[at].Insert(key)
	}
	if s.objects[key] = after; after == nil {
		delete(s.objects, key)
	}
}

// places returns the object's index entries. An index function must not fail: the index would lack an
// object.
func (s *Store) places(object any) (places []indexed) {
	for name, function := range s.indexers {
		if object == nil {
			break
		}
		values, err := function(object)
		if err != nil {
			panic(fmt.Errorf("index %s: %w", name, err))
		}
		for _, value := range values {
			places = append(places, indexed{name, value})
		}
	}
	return places
}

// LastStoreSyncResourceVersion returns the version up to which the store has every change.
func (s *Store) LastStoreSyncResourceVersion() string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.version
}

func (s *Store) GetByKey(key string) (item any, exists bool, err error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	item, exists = s.objects[key]
	return item, exists, nil
}

func (s *Store) List() []any {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Collect(maps.Values(s.objects))
}

func (s *Store) ByIndex(name, value string) (objects []any, err error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.indexers[name] == nil {
		return nil, fmt.Errorf("the store has no index %s", name)
	}
	for key := range s.index[indexed{name, value}] {
		objects = append(objects, s.objects[key])
	}
	return objects, nil
}
