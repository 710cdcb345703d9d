// Package storage is the part of an API server that is not protocol: all objects, in memory. For
// the API server of the cluster etcd does this. A storage that lasts, or that several replicas
// share, must do more; what the handlers need of it is the same.
//
// # Properties
//
//   - Each write makes a new revision of everything. A client that knows a revision can ask what has
//     happened since, until that is forgotten.
//   - One write happens at a time, and sees all objects. That makes checks across objects
//     atomic, which no admission webhook can do.
//   - The first revision is the time in microseconds. So after a restart the revision is
//     higher than any that a client has seen, and what was before is forgotten. (The clock
//     must not be set back by more than the restart takes.)
//   - What is stored is never changed: as long as an object is the same pointer, it was not
//     written.
//   - Objects, their number and the history have a size that they do not exceed, whatever is
//     written.
package storage

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	// MaxObject is the size of an object in JSON. etcd's is 1.5 MB.
	MaxObject = 64 << 10
	// MaxObjects is how many objects there are: a check across objects looks at each, and all
	// other writes wait.
	MaxObjects = 1000
	// MaxEvents is how many events are remembered at least, for watches. There are never twice
	// as many.
	MaxEvents = 1000
)

// Object has metadata, and is of a type that the function given to New returns.
type Object interface {
	metav1.Object
	runtime.Object
}

// Key is where an object is stored. Namespace is "" for a kind without.
type Key struct{ Resource, Namespace, Name string }

// Event is one write.
type Event struct {
	Revision int64
	Key      Key
	// Before is nil if the object is new, After if it is gone.
	Before, After Object
}

// Storage may be used by many goroutines. Make it with New.
type Storage struct {
	decode func(text []byte) (Object, error)

	mu       sync.RWMutex
	revision int64
	objects  map[Key]Object
	// events are the last ones, oldest first. forgotten is the last revision before them.
	events    []Event
	forgotten int64
	// changed is closed by the next write.
	changed chan struct{}
}

// New returns an empty storage. decode makes an object of the JSON that json.Marshal has made
// of it.
func New(decode func(text []byte) (Object, error)) *Storage {
	now := time.Now().UnixMicro()
	return &Storage{decode: decode, revision: now, forgotten: now, objects: map[Key]Object{}, changed: make(chan struct{})}
}

// Write stores what change returns in the place of current, nothing for nil. current is nil if
// there is nothing. Neither it nor any of all may be changed. What is returned gets its
// resourceVersion. All other requests wait for change, so what takes time belongs before the write.
//
// Nothing is written if nothing changes. A dry run does all the rest. An error is that of
// change, or an APIStatus: too large, or no room left.
func (s *Storage) Write(key Key, dryRun bool, change func(current Object, all map[Key]Object) (Object, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	current := s.objects[key]
	next, err := change(current, s.objects)
	if err != nil || equality.Semantic.DeepEqual(current, next) {
		return err
	}
	event := Event{Revision: s.revision + 1, Key: key, Before: current}
	if next != nil {
		before := next.GetResourceVersion()
		next.SetResourceVersion(strconv.FormatInt(event.Revision, 10))
		text, err := json.Marshal(next)
		if err == nil {
			err = s.checkSize(key, len(text), next.GetDeletionTimestamp() != nil)
		}
		if err == nil {
			event.After, err = s.decode(text) // as clients see it: without fractions of a second
		}
		if err != nil {
			return err
		}
		if dryRun {
			next.SetResourceVersion(before)
		}
	}
	if !dryRun {
		s.apply(event)
	}
	return nil
}

// checkSize returns an error if an object becomes too large, or there are too many. What is
// being deleted may be twice as large: no limit must keep the garbage collector from adding or
// removing its finalizers.
func (s *Storage) checkSize(key Key, size int, isBeingDeleted bool) error {
	switch {
	case size > 2*MaxObject, size > MaxObject && !isBeingDeleted:
		return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("the object has %d bytes, limit is %d", size, MaxObject))
	case s.objects[key] == nil && len(s.objects) >= MaxObjects: // as a quota refuses
		return apierrors.NewForbidden(schema.GroupResource{Resource: key.Resource}, key.Name, fmt.Errorf("the storage is full, with %d objects", len(s.objects)))
	}
	return nil
}

func (s *Storage) apply(event Event) {
	s.revision = event.Revision
	if s.objects[event.Key] = event.After; event.After == nil {
		delete(s.objects, event.Key)
	}
	// Twice as many as promised, so that most writes move nothing.
	if s.events = append(s.events, event); len(s.events) == 2*MaxEvents {
		s.forgotten = s.events[MaxEvents-1].Revision
		s.events = slices.Clone(s.events[MaxEvents:])
	}
	close(s.changed)
	s.changed = make(chan struct{})
}

// Read lets a function see all objects as they are at one moment. It must change none.
func (s *Storage) Read(see func(revision int64, all map[Key]Object)) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	see(s.revision, s.objects)
}

// Get returns the object that is stored now, nil if there is none, and the revision.
func (s *Storage) Get(key Key) (o Object, revision int64) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.objects[key], s.revision
}

// List returns the objects of a resource, in a namespace or in all (""), sorted by both, and
// the revision.
func (s *Storage) List(resource, namespace string) (objects []Object, revision int64) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for key, object := range s.objects {
		if key.Resource == resource && (namespace == "" || key.Namespace == namespace) {
			objects = append(objects, object)
		}
	}
	slices.SortFunc(objects, func(a, b Object) int {
		return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
	})
	return objects, s.revision
}

// Next returns the first event after a revision, or what is closed when there is one. Clients
// know both errors: 410 for a revision that is forgotten, and that of NotYet.
func (s *Storage) Next(revision int64) (*Event, <-chan struct{}, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	switch {
	case revision < s.forgotten:
		return nil, nil, apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %d (oldest known: %d)", revision, s.forgotten))
	case revision >= s.revision:
		return nil, s.changed, NotYet(revision, s.revision)
	}
	// Each event is one revision after the one before.
	return new(s.events[revision-s.forgotten]), nil, nil
}

// NotYet returns an error if a revision has not been yet: 504, with a cause that tells a client
// that this is no common timeout.
func NotYet(revision, current int64) error {
	if revision <= current {
		return nil
	}
	err := apierrors.NewTimeoutError(fmt.Sprintf("Too large resource version: %d, current: %d", revision, current), 1)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge, Message: "Too large resource version"}}
	return err
}
