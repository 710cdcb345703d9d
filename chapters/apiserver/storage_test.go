package main

import (
	"errors"
	"maps"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"testing"

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
	now := map[string]string{}
	history := map[int64]map[string]string{s.revision: {}}
	for range 200 {
		name, value := strconv.Itoa(random.IntN(5)), []string{"", "a", "b"}[random.IntN(3)]
		revision := mustStore(t, s, name, value)
		if now[name] = value; value == "" {
			delete(now, name)
		}
		history[revision] = maps.Clone(now)
	}
	if diff := cmp.Diff(now, values(s)); diff != "" {
		t.Errorf("the list (-want +got):\n%s", diff)
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
		if diff := cmp.Diff(now, got); diff != "" {
			t.Errorf("from %d to now (-want +got):\n%s", revision, diff)
		}
	}
	if next := newStorage(); next.revision <= s.revision {
		t.Errorf("after a restart the revision is %d, was %d", next.revision, s.revision)
	} else if _, _, err := next.next(s.revision); !apierrors.IsResourceExpired(err) {
		t.Errorf("after a restart, the revision before: %v, want 410", err)
	}
}

// Events are forgotten, the oldest first. A client that asks for them is told.
func TestForgotten(t *testing.T) {
	s := newStorage()
	for i := range 1001 {
		s.apply(strconv.Itoa(i), &event{revision: s.revision + 1}, maxHistory/1000)
	}
	if _, _, err := s.next(s.forgotten - 1); !apierrors.IsResourceExpired(err) {
		t.Errorf("too old: %v, want 410", err)
	}
	event, _, err := s.next(s.forgotten)
	if err != nil || event.revision != s.forgotten+1 || s.revision-s.forgotten != 1000 {
		t.Errorf("the first event that is known is %v (%v), want that of %d of %d", event, err, s.forgotten+1, s.revision)
	}
	if _, _, err := s.next(s.revision + 1); !apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge) {
		t.Errorf("too new: %v, want the cause ResourceVersionTooLarge", err)
	}
}

// heavy is an object whose JSON is smaller than maxObject, and which is much larger in memory.
func heavy(round int) *topping {
	o := &topping{ObjectMeta: metav1.ObjectMeta{Name: "heavy", Labels: map[string]string{}}}
	for i := range 6000 {
		o.Labels[strconv.FormatInt(int64(round*6000+i), 36)] = ""
	}
	return o
}

// However large the objects are, what is remembered has a size. Neither they nor their history
// take more memory than a server has.
func TestMemory(t *testing.T) {
	s := newStorage()
	live := func() uint64 {
		var stats runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}
	before := live()
	for round := range 200 {
		if err := s.storeObject("heavy", heavy(round)); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := s.next(s.revision - 10); err != nil {
		t.Errorf("the last ten events are forgotten: %v", err)
	}
	if grown := live() - before; grown > 40<<20 {
		t.Errorf("200 writes of one object: %d MiB", grown>>20)
	}
	runtime.KeepAlive(s)
}

// The objects have a size together. At that, what is there can become smaller, go, and lose or
// get finalizers while it is being deleted.
func TestFullOfBytes(t *testing.T) {
	s := newStorage()
	large, n := strings.Repeat("x", maxObject/4), 0
	var err error
	for ; err == nil && n < maxObjects; n++ {
		err = s.store(strconv.Itoa(n), large)
	}
	if !apierrors.IsForbidden(err) || n > maxBytes/len(large)+1 {
		t.Fatalf("after %d objects of %d bytes: %v, want 403", n, len(large), err)
	}
	if err := s.store("0", large+large+large); !apierrors.IsForbidden(err) {
		t.Errorf("a larger one in its place: %v, want 403", err)
	}
	if err := s.store("0", large+large+large, "a-finalizer"); err != nil {
		t.Errorf("a larger one that is being deleted: %v", err)
	}
	mustStore(t, s, "1", "smaller")
	mustStore(t, s, "2", "")
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

// A write that began with another object is to begin anew.
func TestErrChanged(t *testing.T) {
	s := newStorage()
	mustStore(t, s, "a", "1")
	before := s.get("a")
	mustStore(t, s, "a", "2")
	for _, next := range []*topping{nil, {}, before} {
		if err := s.write("a", false, before, next, func(map[string]*topping) error { return nil }); !errors.Is(err, errChanged) {
			t.Errorf("%v: %v, want errChanged", next, err)
		}
	}
}

// Neither an object nor their number exceeds its limit. What is there can be changed, go, and
// lose its finalizers even then.
func TestFull(t *testing.T) {
	s := newStorage()
	large := strings.Repeat("x", maxObject)
	if err := s.store("a", large); !apierrors.IsRequestEntityTooLargeError(err) {
		t.Errorf("a large object: %v, want 413", err)
	}
	if err := s.store("a", large, "a-finalizer"); err != nil {
		t.Errorf("a large object that is being deleted: %v", err)
	}
	for i := range maxObjects {
		s.objects[strconv.Itoa(i)] = &topping{}
	}
	if err := s.store("c", "new"); !apierrors.IsForbidden(err) {
		t.Errorf("one too many: %v, want 403", err)
	}
	mustStore(t, s, "1", "changed")
	mustStore(t, s, "1", "")
}
