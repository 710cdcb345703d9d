package main

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"weak"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// store writes an object with this value, or removes it if there is none.
func (s *storage) store(name, value string, finalizers ...string) error {
	if value == "" {
		return s.storeObject(name, nil)
	}
	t := &topping{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{"value": value}}}
	if t.Finalizers = finalizers; len(finalizers) > 0 {
		t.DeletionTimestamp = new(metav1.Now())
	}
	return s.storeObject(name, t)
}

func (s *storage) storeObject(name string, t *topping) error {
	return s.write(name, false, s.get(name), t, func(map[string]*topping) error { return nil })
}

// mustStore is a write that must succeed. It returns the revision.
func mustStore(t *testing.T, s *storage, name, value string) int64 {
	t.Helper()
	if err := s.store(name, value); err != nil {
		t.Fatal(err)
	}
	return s.revision
}

// values returns what is stored.
func values(s *storage) map[string]string {
	objects, _ := s.list()
	found := map[string]string{}
	for _, t := range objects {
		found[t.Name] = t.Annotations["value"]
	}
	return found
}

// Whatever is written, the events after each revision that is remembered lead from there to now.
func TestHistory(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	s := newStorage()
	history := map[int64]map[string]string{s.revision: {}}
	for range 200 {
		revision := mustStore(t, s, strconv.Itoa(random.IntN(5)), []string{"", "a", "b"}[random.IntN(3)])
		history[revision] = values(s)
	}
	for revision, got := range history {
		for event, _, err := s.next(revision); event != nil || err != nil; event, _, err = s.next(event.revision) {
			if err != nil {
				t.Fatal(err)
			}
			if event.before != nil {
				delete(got, event.before.Name)
			}
			if event.after != nil {
				got[event.after.Name] = event.after.Annotations["value"]
			}
		}
		if diff := cmp.Diff(values(s), got); diff != "" {
			t.Errorf("from %d to now (-want +got):\n%s", revision, diff)
		}
	}
	if next := newStorage(); next.revision <= s.revision {
		t.Errorf("after a restart the revision is %d, was %d", next.revision, s.revision)
	} else if _, _, err := next.next(s.revision); !apierrors.IsResourceExpired(err) {
		t.Errorf("after a restart, the revision before: %v, want 410", err)
	}
}

// What is remembered has a size: that of the objects before and after each event. The oldest are
// forgotten first, and a client that asks for them is told.
func TestForgotten(t *testing.T) {
	const size = maxObject / 2
	s := newStorage()
	var events []weak.Pointer[event]
	for i := range 500 {
		mustStore(t, s, "a", strings.Repeat("x", size)+strconv.Itoa(i))
		events = append(events, weak.Make(s.events[len(s.events)-1]))
	}
	known := int(s.revision - s.forgotten)
	if known > maxHistory/2/size || known < maxHistory/2/size-5 {
		t.Errorf("%d events of two objects of %d bytes are remembered", known, size)
	}
	runtime.GC()
	for i, event := range events[:len(events)-known] {
		if event.Value() != nil {
			t.Errorf("event %d is forgotten, and still in memory", i)
		}
	}
	if _, _, err := s.next(s.forgotten - 1); !apierrors.IsResourceExpired(err) {
		t.Errorf("too old: %v, want 410", err)
	}
	if event, _, err := s.next(s.forgotten); err != nil || event.revision != s.forgotten+1 {
		t.Errorf("the first event that is known is %v (%v), want that of %d", event, err, s.forgotten+1)
	}
	if _, _, err := s.next(s.revision + 1); !apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge) {
		t.Errorf("too new: %v, want the cause ResourceVersionTooLarge", err)
	}
}

// An object is encoded and decoded before the lock is taken: other requests do not wait for it.
func TestNoDecodingUnderTheLock(t *testing.T) {
	s, decode := newStorage(), decodeStored
	t.Cleanup(func() { decodeStored = decode })
	decodeStored = func(text []byte) (*topping, error) {
		if s.mu.TryLock() {
			s.mu.Unlock()
		} else {
			t.Error("the storage is locked")
		}
		return decode(text)
	}
	mustStore(t, s, "a", "1")
	mustStore(t, s, "a", "2")
}

// A write that began with another object is to begin anew, even if it changes nothing.
func TestErrChanged(t *testing.T) {
	s := newStorage()
	mustStore(t, s, "a", "1")
	before := s.get("a")
	mustStore(t, s, "a", "2")
	if err := s.write("a", false, before, before, func(map[string]*topping) error { return nil }); !errors.Is(err, errChanged) {
		t.Errorf("%v, want errChanged", err)
	}
}

// An object, all together, and their number have a limit. At that, what is there can become smaller,
// go, and lose or get finalizers while it is being deleted.
func TestFull(t *testing.T) {
	s := newStorage()
	large := strings.Repeat("x", maxObject)
	if err := s.store("large", large); !apierrors.IsRequestEntityTooLargeError(err) {
		t.Errorf("a large object: %v, want 413", err)
	}
	if err := s.store("large", large, "a-finalizer"); err != nil {
		t.Errorf("a large object that is being deleted: %v", err)
	}
	quarter := large[:maxObject/4]
	for i := range maxBytes / len(quarter) {
		_ = s.store(strconv.Itoa(i), quarter) // The last ones have no room.
	}
	for _, name := range []string{"new", "0"} {
		if err := s.store(name, quarter+quarter); !apierrors.IsForbidden(err) {
			t.Errorf("%s takes more: %v, want 403", name, err)
		}
	}
	if err := s.store("0", large, "a-finalizer"); err != nil {
		t.Errorf("0 takes more while it is being deleted: %v", err)
	}
	mustStore(t, s, "1", "smaller")
	mustStore(t, s, "1", "")
	s = newStorage()
	for i := range maxObjects {
		s.objects[strconv.Itoa(i)] = &topping{}
	}
	if err := s.store("new", "small"); !apierrors.IsForbidden(err) {
		t.Errorf("one too many: %v, want 403", err)
	}
	mustStore(t, s, "1", "changed")
	mustStore(t, s, "1", "")
}
