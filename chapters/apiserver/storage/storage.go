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
//   - An object, all objects together and the history have a size that they do not exceed,
//     whatever is written. It is that of their JSON; in memory they take up to ten times as much.
package storage

import (
	"cmp"
	"encoding/json"
	"errors"
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
	// MaxBytes is the size of all objects in JSON. Those that are being deleted may take as much
	// again.
	MaxBytes = 8 << 20
	// MaxEvents is how many events are remembered for watches, and MaxHistory the size of what they
	// hold. At either, the oldest one is forgotten.
	MaxEvents, MaxHistory = 1000, 8 << 20
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

	size  int       // of both
	forms *sync.Map // func() ([]byte, error), by what Form was called with
}

// Form returns what make returns for this event and this form of it. make is called once, however
// many watchers ask, and what it returns is kept as long as the event.
func (e *Event) Form(form any, make func() ([]byte, error)) ([]byte, error) {
	once, _ := e.forms.LoadOrStore(form, sync.OnceValues(make))
	return once.(func() ([]byte, error))()
}

// Storage may be used by many goroutines. Make it with New.
type Storage struct {
	decode func(text []byte) (Object, error)

	mu       sync.RWMutex
	revision int64
	objects  map[Key]Object
	sizes    map[Key]int // of the JSON of objects
	size     int         // their sum
	// events are the last ones, oldest first. forgotten is the last revision before them.
	events    []Event
	history   int // the size of all events
	forgotten int64
	// changed is closed by the next write.
	changed chan struct{}
}

// New returns an empty storage. decode makes an object of the JSON that json.Marshal has made
// of it.
func New(decode func(text []byte) (Object, error)) *Storage {
	now := time.Now().UnixMicro()
	return &Storage{decode: decode, revision: now, forgotten: now, objects: map[Key]Object{}, sizes: map[Key]int{}, changed: make(chan struct{})}
}

// ErrChanged means that another object is stored than the one that a write began with.
var ErrChanged = errors.New("the object is another one by now")

// Write stores next in the place of current, which Get has returned. nil is nothing. If current
// is not what is stored any more, the error is ErrChanged: begin anew. check may refuse the write,
// and sees all objects, none of which it may change. All other requests wait for it, but not for
// the encoding of next, which gets its resourceVersion.
//
// Nothing is written if nothing changes. A dry run does all the rest. Other errors are that of
// check, or an APIStatus: too large, or no room left.
func (s *Storage) Write(key Key, dryRun bool, current, next Object, check func(all map[Key]Object) error) error {
	event, size := Event{Key: key, Before: current, forms: &sync.Map{}}, 0
	unchanged := equality.Semantic.DeepEqual(current, next)
	if next != nil && !unchanged {
		text, err := json.Marshal(next)
		if err != nil {
			return err
		}
		if event.After, err = s.decode(text); err != nil { // as clients see it: without fractions of a second
			return err
		}
		size = len(text)
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	if s.objects[key] != current {
		return ErrChanged
	}
	if err := check(s.objects); err != nil || unchanged {
		return err
	}
	if next != nil {
		if err := s.checkSize(key, size, next.GetDeletionTimestamp() != nil); err != nil {
			return err
		}
	}
	if dryRun {
		return nil
	}
	event.Revision = s.revision + 1
	if next != nil {
		next.SetResourceVersion(strconv.FormatInt(event.Revision, 10))
		event.After.SetResourceVersion(next.GetResourceVersion())
	}
	s.apply(event, size)
	return nil
}

// checkSize returns an error if an object becomes too large, or there is too much. What is being
// deleted may be twice as large: no limit must keep the garbage collector from adding or removing
// its finalizers.
func (s *Storage) checkSize(key Key, size int, isBeingDeleted bool) error {
	factor := 1
	if isBeingDeleted {
		factor = 2
	}
	grows := size - s.sizes[key]
	switch {
	case size > factor*MaxObject:
		return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("the object has %d bytes, limit is %d", size, MaxObject))
	case s.objects[key] == nil && len(s.objects) >= MaxObjects, grows > 0 && s.size+grows > factor*MaxBytes: // as a quota refuses
		return apierrors.NewForbidden(schema.GroupResource{Resource: key.Resource}, key.Name, fmt.Errorf("the storage is full, with %d objects of %d bytes", len(s.objects), s.size))
	}
	return nil
}

// apply makes an event what happened last. size is that of After.
func (s *Storage) apply(event Event, size int) {
	s.revision = event.Revision
	event.size = s.sizes[event.Key] + size
	s.size += size - s.sizes[event.Key]
	if s.objects[event.Key], s.sizes[event.Key] = event.After, size; event.After == nil {
		delete(s.objects, event.Key)
		delete(s.sizes, event.Key)
	}
	s.events, s.history = append(s.events, event), s.history+event.size
	for len(s.events) > MaxEvents || s.history > MaxHistory {
		s.forgotten, s.history = s.events[0].Revision, s.history-s.events[0].size
		s.events[0] = Event{} // The array must not keep what is forgotten.
		s.events = s.events[1:]
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
