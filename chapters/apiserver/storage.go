package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// maxObject is the size of an object in JSON. etcd's is 1.5 MB.
	maxObject = 64 << 10
	// maxObjects is how many there are: a check across objects looks at each.
	maxObjects = 1000
	// maxBytes is the size of all objects in JSON. Those that are being deleted may take as much again.
	maxBytes = 8 << 20
	// maxHistory is the size of the events that are remembered.
	maxHistory = 8 << 20
)

// storage holds all objects, in memory. Many goroutines may use it. One write happens at a time, and
// makes a new revision of everything. What is stored is never changed: the same pointer is the same
// state. Sizes are those of JSON; in memory it is up to ten times as much.
type storage struct {
	mu       sync.RWMutex
	revision int64
	objects  map[string]*topping // by name
	sizes    map[string]int      // of the JSON of objects
	size     int                 // their sum
	// events are the last ones. forgotten is the last revision before them.
	events    []*event
	history   int // the size of all events
	forgotten int64
	changed   chan struct{} // closed by the next write
}

// event is one write.
type event struct {
	revision int64
	// before is nil if the object is new, after if it is gone.
	before, after *topping

	size  int      // of both
	lines sync.Map // func() ([]byte, error), by form
}

// line returns what encode returns, which is called once for each form.
func (e *event) line(form string, encode func() ([]byte, error)) ([]byte, error) {
	once, _ := e.lines.LoadOrStore(form, sync.OnceValues(encode))
	return once.(func() ([]byte, error))()
}

// newStorage returns an empty storage. Its first revision is the time in microseconds, so after a
// restart it is higher than any before, if the clock was not set back.
func newStorage() *storage {
	now := time.Now().UnixMicro()
	return &storage{revision: now, forgotten: now, objects: map[string]*topping{}, sizes: map[string]int{}, changed: make(chan struct{})}
}

// errChanged: the object is not the one that a write began with.
var errChanged = errors.New("the object is another one by now")

var decodeStored = func(text []byte) (t *topping, err error) {
	t = &topping{}
	return t, json.Unmarshal(text, t)
}

// write stores next, which gets its resourceVersion, in the place of current, as get has returned it.
// nil is nothing. If current is not stored any more, the error is errChanged: begin anew. check sees all
// objects and may refuse the write, while all other requests wait. Nothing is written if nothing
// changes, or in a dry run.
func (s *storage) write(name string, dryRun bool, current, next *topping, check func(all map[string]*topping) error) error {
	event, size := &event{before: current}, 0
	unchanged := equality.Semantic.DeepEqual(current, next)
	if next != nil && !unchanged {
		text, err := json.Marshal(next)
		if err != nil {
			return err
		}
		if event.after, err = decodeStored(text); err != nil { // as clients see it: without fractions of a second
			return err
		}
		size = len(text)
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	if s.objects[name] != current {
		return errChanged
	}
	if err := check(s.objects); err != nil || unchanged {
		return err
	}
	if next != nil {
		if err := s.checkSize(name, size, next.DeletionTimestamp != nil); err != nil {
			return err
		}
	}
	if dryRun {
		return nil
	}
	event.revision = s.revision + 1
	if next != nil {
		next.ResourceVersion = strconv.FormatInt(event.revision, 10)
		event.after.ResourceVersion = next.ResourceVersion
	}
	s.apply(name, event, size)
	return nil
}

// checkSize returns an error if an object, or all together, become too large. What is being deleted
// may be twice as large: its finalizers must be able to change.
func (s *storage) checkSize(name string, size int, isBeingDeleted bool) error {
	factor := 1
	if isBeingDeleted {
		factor = 2
	}
	grows := size - s.sizes[name]
	switch {
	case size > factor*maxObject:
		return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("the object has %d bytes, limit is %d", size, maxObject))
	case s.objects[name] == nil && len(s.objects) >= maxObjects, grows > 0 && s.size+grows > factor*maxBytes: // as a quota refuses
		return apierrors.NewForbidden(resource, name, fmt.Errorf("the storage is full, with %d objects of %d bytes", len(s.objects), s.size))
	}
	return nil
}

// apply makes an event what happened last. size is that of the object after it.
func (s *storage) apply(name string, event *event, size int) {
	s.revision = event.revision
	event.size = s.sizes[name] + size
	s.size += size - s.sizes[name]
	if s.objects[name], s.sizes[name] = event.after, size; event.after == nil {
		delete(s.objects, name)
		delete(s.sizes, name)
	}
	s.events, s.history = append(s.events, event), s.history+event.size
	for s.history > maxHistory {
		s.forgotten, s.history = s.events[0].revision, s.history-s.events[0].size
		s.events[0] = nil // The array must not keep what is forgotten.
		s.events = s.events[1:]
	}
	close(s.changed)
	s.changed = make(chan struct{})
}

// get returns nil if there is none.
func (s *storage) get(name string) *topping {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.objects[name]
}

// list returns all objects by name, and the revision.
func (s *storage) list() ([]*topping, int64) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	byName := func(a, b *topping) int { return cmp.Compare(a.Name, b.Name) }
	return slices.SortedFunc(maps.Values(s.objects), byName), s.revision
}

// next returns the first event after a revision, or what is closed when there is one. The errors are
// 410 for a revision that is forgotten, and that of notYet.
func (s *storage) next(revision int64) (*event, <-chan struct{}, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	switch {
	case revision < s.forgotten:
		return nil, nil, apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %d (oldest known: %d)", revision, s.forgotten))
	case revision >= s.revision:
		return nil, s.changed, notYet(revision, s.revision)
	}
	return s.events[revision-s.forgotten], nil, nil // Each event is one revision after the one before.
}

// notYet returns 504 for a revision of the future, with a cause: this is no common timeout.
func notYet(revision, current int64) error {
	if revision <= current {
		return nil
	}
	err := apierrors.NewTimeoutError(fmt.Sprintf("Too large resource version: %d, current: %d", revision, current), 1)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge, Message: "Too large resource version"}}
	return err
}
