package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
)

// key is where an object is stored. The namespace of a Topping is "".
type key struct {
	Resource  string `json:"resource,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
}

// event is one write.
type event struct {
	revision int64
	key      key
	// before is nil if the object is new, after if it is gone.
	before, after object
}

// maxEvents is how many events are remembered, for watches and for lists of the past.
const maxEvents = 1000

// storage holds all objects, in the hub version, in memory and in a journal. etcd does the
// same for the API server: each write makes a new revision of everything, and whoever knows
// a revision can ask what has happened since.
//
// One write happens at a time, and sees all objects. That makes checks across objects atomic,
// which no admission webhook can do.
type storage struct {
	journal *journal

	mu       sync.RWMutex
	revision int64
	objects  map[key]object
	// events are the last ones, oldest first. forgotten is the last revision before them.
	events    []event
	forgotten int64
	// changed is closed by the next write.
	changed chan struct{}
}

// openStorage reads the journal of a directory. The revision goes on where it was.
func openStorage(dir string) (*storage, error) {
	s := &storage{objects: map[key]object{}, changed: make(chan struct{})}
	var err error
	s.journal, err = openJournal(dir, s.replay)
	return s, err
}

// change returns what is to be in the place of current, nil for nothing. current is nil if
// there is nothing. Neither it nor any of all may be changed.
type change func(current object, all map[key]object) (object, error)

// write makes a change. When it returns nil, the change is on the disk. Nothing is written
// if nothing changes. A dry run does all the rest.
func (s *storage) write(key key, dryRun bool, change change) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	current := s.objects[key]
	next, err := change(current, s.objects)
	if err != nil || dryRun || equality.Semantic.DeepEqual(current, next) {
		return err
	}
	revision := s.revision + 1
	if next != nil {
		next.SetResourceVersion(strconv.FormatInt(revision, 10))
	}
	written, err := newRecord(revision, key, next)
	if err == nil {
		// In memory is what a restart would read. JSON drops fractions of a second, for
		// example.
		next, err = written.object()
	}
	if err == nil {
		err = s.journal.append(written)
	}
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	s.apply(event{revision, key, current, next})
	if s.journal.isLong(len(s.objects)) {
		if err := s.journal.compact(s.revision, s.objects); err != nil {
			klog.Background().Error(err, "The journal stays long")
		}
	}
	return nil
}

// replay takes a line of the journal. What happened before a snapshot is not known.
func (s *storage) replay(r record) error {
	if r.key == (key{}) {
		s.revision, s.forgotten = r.Revision, r.Revision
	}
	for _, kept := range r.Snapshot {
		o, err := kept.object()
		if err != nil {
			return err
		}
		s.objects[kept.key] = o
	}
	after, err := r.object()
	if err == nil && r.key != (key{}) {
		s.apply(event{r.Revision, r.key, s.objects[r.key], after})
	}
	return err
}

func (s *storage) apply(event event) {
	s.revision = event.revision
	if event.after == nil {
		delete(s.objects, event.key)
	} else {
		s.objects[event.key] = event.after
	}
	// Twice as many as promised, so that most writes move nothing.
	if s.events = append(s.events, event); len(s.events) == 2*maxEvents {
		s.forgotten = s.events[maxEvents-1].revision
		s.events = slices.Clone(s.events[maxEvents:])
	}
	close(s.changed)
	s.changed = make(chan struct{})
}

// read lets a function see all objects as they are at one moment.
func (s *storage) read(see func(revision int64, all map[key]object)) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	see(s.revision, s.objects)
}

// list returns the objects of a resource, in a namespace or in all (""), sorted, as they
// were at a revision. 0 is the newest one.
func (s *storage) list(resource, namespace string, revision int64) (objects []object, at int64, err error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	revision = cmp.Or(revision, s.revision)
	if err := s.knows(revision); err != nil {
		return nil, 0, err
	}
	isWanted := func(key key) bool {
		return key.Resource == resource && (namespace == "" || key.Namespace == namespace)
	}
	found := map[key]object{}
	for key, object := range s.objects {
		if isWanted(key) {
			found[key] = object
		}
	}
	// Take back what has happened since.
	for _, event := range slices.Backward(s.events) {
		if event.revision <= revision {
			break
		}
		if !isWanted(event.key) {
			continue
		}
		if delete(found, event.key); event.before != nil {
			found[event.key] = event.before
		}
	}
	for _, object := range found {
		objects = append(objects, object)
	}
	slices.SortFunc(objects, func(a, b object) int {
		return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
	})
	return objects, revision, nil
}

// since returns what has happened after a revision, and what is closed when there is more.
func (s *storage) since(revision int64) ([]event, <-chan struct{}, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.knows(revision); err != nil {
		return nil, nil, err
	}
	first, _ := slices.BinarySearchFunc(s.events, revision+1, func(event event, revision int64) int {
		return cmp.Compare(event.revision, revision)
	})
	return slices.Clone(s.events[first:]), s.changed, nil
}

// knows returns an error if a revision is too old or has not been yet. Clients know both:
// they list anew, or ask again.
func (s *storage) knows(revision int64) error {
	if revision < s.forgotten {
		return apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %d (oldest known: %d)", revision, s.forgotten))
	}
	return notYet(revision, s.revision)
}

// notYet returns an error if a revision has not been yet. Its cause tells a client that this
// is no common timeout.
func notYet(revision, current int64) error {
	if revision <= current {
		return nil
	}
	err := apierrors.NewTimeoutError(fmt.Sprintf("Too large resource version: %d, current: %d", revision, current), 1)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge, Message: "Too large resource version"}}
	return err
}

func (s *storage) close() error { return s.journal.close() }
