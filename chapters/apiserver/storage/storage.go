// Package storage is the part of an API server that is not protocol: all objects, in memory and
// in a journal on the disk. For the API server of the cluster etcd does this. A storage that
// several replicas share must do more; what the handlers need of it is the same.
//
// # Properties
//
//   - Each write makes a new revision of everything. Who knows a revision can list what there
//     was, and ask what has happened since, until that is forgotten.
//   - One write happens at a time, and sees all objects. That makes checks across objects
//     atomic, which no admission webhook can do.
//   - A write is on the disk before it is answered. A kill loses nothing that was answered, and
//     the revision never goes back.
//   - What is stored is never changed: as long as an object is the same pointer, it was not
//     written.
//   - Objects, all of them together, the history and the journal have a size that they do not
//     exceed, whatever is written.
package storage

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
)

const (
	// MaxObject is the size of an object in JSON. etcd's is 1.5 MB.
	MaxObject = 64 << 10
	// MaxStored is the size of all objects together, and MaxObjects is how many there are: a
	// check across objects looks at each, and all other writes wait. etcd has 2 GB.
	MaxStored, MaxObjects = 64 << 20, 10_000
	// MaxEvents is how many events are remembered at least, for watches and for lists of the
	// past. There are never twice as many.
	MaxEvents = 1000
)

// Object has metadata, and is of a type that the function given to Open returns.
type Object interface {
	metav1.Object
	runtime.Object
}

// Key is where an object is stored. Namespace is "" for a kind without.
type Key struct {
	Resource  string `json:"resource,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
}

// Event is one write.
type Event struct {
	Revision int64
	Key      Key
	// Before is nil if the object is new, After if it is gone.
	Before, After Object
}

// Storage may be used by many goroutines. Make it with Open.
type Storage struct {
	journal *journal
	decode  func(text []byte) (Object, error)

	mu       sync.RWMutex
	revision int64
	objects  map[Key]Object
	// sizes are those of the objects in JSON, size is that of all.
	sizes map[Key]int
	size  int
	// events are the last ones, oldest first. forgotten is the last revision before them.
	events    []Event
	forgotten int64
	// changed is closed by the next write.
	changed chan struct{}
}

// Open reads what is stored in a directory, which one process at a time can have. decode makes
// an object of the JSON that json.Marshal has made of it. Close the storage at the end.
func Open(dir string, decode func(text []byte) (Object, error)) (*Storage, error) {
	s := &Storage{decode: decode, objects: map[Key]Object{}, sizes: map[Key]int{}, changed: make(chan struct{})}
	var err error
	s.journal, err = openJournal(dir, s.replay)
	return s, err
}

// Write stores what change returns in the place of current, nothing for nil. current is nil if
// there is nothing. Neither it nor any of all may be changed. What is returned gets its
// resourceVersion. All other requests wait for change, so what takes time belongs before the write.
//
// When Write returns nil, the change is on the disk. Nothing is written if nothing changes. A
// dry run does all the rest. An error is that of change, or an APIStatus: too large, no room
// left, or internal if the disk has failed.
func (s *Storage) Write(key Key, dryRun bool, change func(current Object, all map[Key]Object) (Object, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	current := s.objects[key]
	next, err := change(current, s.objects)
	if err != nil || equality.Semantic.DeepEqual(current, next) {
		return err
	}
	written := record{Revision: s.revision + 1, Key: key}
	if next != nil {
		before := next.GetResourceVersion()
		next.SetResourceVersion(strconv.FormatInt(written.Revision, 10))
		written.Object = encode(next)
		if err := s.checkSize(key, len(written.Object), next.GetDeletionTimestamp() != nil); err != nil {
			return err
		}
		if dryRun {
			next.SetResourceVersion(before)
		}
	}
	if dryRun {
		return nil
	}
	// In memory is what a restart would read. JSON drops fractions of a second, for example.
	if next, err = s.read(written); err == nil {
		err = s.journal.append(written)
	}
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	s.apply(Event{written.Revision, key, current, next}, len(written.Object))
	// Most lines say what is over.
	if s.journal.size > 2*s.size+MaxStored/4 {
		if err := s.journal.rewrite(s.records()); err != nil {
			klog.Background().Error(err, "The journal cannot be made anew")
		}
	}
	return nil
}

// checkSize returns an error if an object becomes too large, or all together. What is being
// deleted may be twice as large: a full storage must not keep the garbage collector from
// removing its finalizers.
func (s *Storage) checkSize(key Key, size int, isBeingDeleted bool) error {
	grows, factor := size-s.sizes[key], 1
	if isBeingDeleted {
		factor = 2
	}
	switch {
	case grows <= 0:
		return nil
	case size > factor*MaxObject:
		return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("the object has %d bytes, limit is %d", size, MaxObject))
	case s.size+grows > factor*MaxStored, s.sizes[key] == 0 && len(s.objects) >= MaxObjects:
		return &apierrors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusInsufficientStorage, Reason: "InsufficientStorage",
			Message: fmt.Sprintf("the storage is full, with %d objects of %d MiB", len(s.objects), s.size>>20),
		}}
	}
	return nil
}

// replay takes a line of the journal.
func (s *Storage) replay(r record) error {
	after, err := s.read(r)
	switch {
	case err != nil:
		return err
	case r.Key == (Key{}): // What happened before is not known.
		s.revision, s.forgotten = r.Revision, r.Revision
	case r.Revision == 0:
		s.put(r.Key, after, len(r.Object))
	default:
		s.apply(Event{r.Revision, r.Key, s.objects[r.Key], after}, len(r.Object))
	}
	return nil
}

// read returns the object of a record, nil if it says that it is gone.
func (s *Storage) read(r record) (Object, error) {
	if r.Object == nil {
		return nil, nil
	}
	return s.decode(r.Object)
}

// records are a journal of what there is now.
func (s *Storage) records() []record {
	records := []record{{Revision: s.revision}}
	for key, object := range s.objects {
		records = append(records, record{Key: key, Object: encode(object)})
	}
	return records
}

func (s *Storage) apply(event Event, size int) {
	s.revision = event.Revision
	s.put(event.Key, event.After, size)
	// Twice as many as promised, so that most writes move nothing.
	if s.events = append(s.events, event); len(s.events) == 2*MaxEvents {
		s.forgotten = s.events[MaxEvents-1].Revision
		s.events = slices.Clone(s.events[MaxEvents:])
	}
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *Storage) put(key Key, o Object, size int) {
	s.size += size - s.sizes[key]
	s.objects[key], s.sizes[key] = o, size
	if o == nil {
		delete(s.objects, key)
		delete(s.sizes, key)
	}
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

// List returns the objects of a resource, in a namespace or in all (""), sorted by both, as
// they were at a revision, which it returns. 0 is the newest one. The errors are those of Next.
func (s *Storage) List(resource, namespace string, revision int64) ([]Object, int64, error) {
	found, revision, err := s.find(revision, func(key Key) bool {
		return key.Resource == resource && (namespace == "" || key.Namespace == namespace)
	})
	objects := slices.SortedFunc(maps.Values(found), func(a, b Object) int {
		return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
	})
	return objects, revision, err
}

func (s *Storage) find(revision int64, isWanted func(Key) bool) (map[Key]Object, int64, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	revision = cmp.Or(revision, s.revision)
	if err := s.knows(revision); err != nil {
		return nil, 0, err
	}
	found := map[Key]Object{}
	for key, object := range s.objects {
		if isWanted(key) {
			found[key] = object
		}
	}
	// Take back what has happened since.
	for _, event := range slices.Backward(s.events) {
		if event.Revision <= revision {
			break
		}
		if !isWanted(event.Key) {
			continue
		}
		if delete(found, event.Key); event.Before != nil {
			found[event.Key] = event.Before
		}
	}
	return found, revision, nil
}

// Next returns the first event after a revision, or what is closed when there is one. Clients
// know both errors: 410 for a revision that is forgotten, and that of NotYet.
func (s *Storage) Next(revision int64) (*Event, <-chan struct{}, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.knows(revision); err != nil || revision == s.revision {
		return nil, s.changed, err
	}
	first, _ := slices.BinarySearchFunc(s.events, revision+1, func(event Event, revision int64) int {
		return cmp.Compare(event.Revision, revision)
	})
	return new(s.events[first]), nil, nil
}

func (s *Storage) knows(revision int64) error {
	if revision < s.forgotten {
		return apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %d (oldest known: %d)", revision, s.forgotten))
	}
	return NotYet(revision, s.revision)
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

// Close lets another process have the directory.
func (s *Storage) Close() error { return s.journal.close() }
