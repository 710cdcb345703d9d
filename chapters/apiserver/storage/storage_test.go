package storage

import (
	"encoding/json"
	"errors"
	"maps"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func decode(text []byte) (Object, error) {
	o := &corev1.ConfigMap{}
	return o, json.Unmarshal(text, o)
}

func keyOf(name string) Key { return Key{Resource: "configmaps", Name: name} }

// write stores an object with this value, or removes it if there is none.
func write(s *Storage, name, value string, finalizers ...string) error {
	if value == "" {
		return writeObject(s, name, nil)
	}
	o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"value": value}}
	if o.Finalizers = finalizers; len(finalizers) > 0 {
		o.DeletionTimestamp = new(metav1.Now())
	}
	return writeObject(s, name, o)
}

func writeObject(s *Storage, name string, o Object) error {
	current, _ := s.Get(keyOf(name))
	return s.Write(keyOf(name), false, current, o, func(map[Key]Object) error { return nil })
}

// put is a write that must succeed. It returns the revision.
func put(t *testing.T, s *Storage, name, value string) int64 {
	t.Helper()
	if err := write(s, name, value); err != nil {
		t.Fatal(err)
	}
	return s.revision
}

// values returns what is stored.
func values(s *Storage) map[string]string {
	objects, _ := s.List("configmaps", "")
	found := map[string]string{}
	for _, o := range objects {
		found[o.GetName()] = o.(*corev1.ConfigMap).Data["value"]
	}
	return found
}

// Whatever is written, the events after each revision that is remembered lead from there to now.
func TestHistory(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	s := New(decode)
	now := map[string]string{}
	history := map[int64]map[string]string{s.revision: {}}
	for range 200 {
		name, value := strconv.Itoa(random.IntN(5)), []string{"", "a", "b"}[random.IntN(3)]
		revision := put(t, s, name, value)
		if now[name] = value; value == "" {
			delete(now, name)
		}
		history[revision] = maps.Clone(now)
	}
	if diff := cmp.Diff(now, values(s)); diff != "" {
		t.Errorf("the list (-want +got):\n%s", diff)
	}
	for revision, got := range history {
		for event, _, err := s.Next(revision); event != nil || err != nil; event, _, err = s.Next(event.Revision) {
			if err != nil {
				t.Fatal(err)
			}
			if delete(got, event.Key.Name); event.After != nil {
				got[event.Key.Name] = event.After.(*corev1.ConfigMap).Data["value"]
			}
		}
		if diff := cmp.Diff(now, got); diff != "" {
			t.Errorf("from %d to now (-want +got):\n%s", revision, diff)
		}
	}
	if next := New(decode); next.revision <= s.revision {
		t.Errorf("after a restart the revision is %d, was %d", next.revision, s.revision)
	} else if _, _, err := next.Next(s.revision); !apierrors.IsResourceExpired(err) {
		t.Errorf("after a restart, the revision before: %v, want 410", err)
	}
}

// Events are forgotten, the oldest first. A client that asks for them is told.
func TestForgotten(t *testing.T) {
	s := New(decode)
	for i := range MaxEvents + 1 {
		s.apply(Event{Revision: s.revision + 1, Key: keyOf(strconv.Itoa(i))}, 1)
	}
	if _, _, err := s.Next(s.forgotten - 1); !apierrors.IsResourceExpired(err) {
		t.Errorf("too old: %v, want 410", err)
	}
	event, _, err := s.Next(s.forgotten)
	if err != nil || event.Revision != s.forgotten+1 || s.revision-s.forgotten != MaxEvents {
		t.Errorf("the first event that is known is %v (%v), want that of %d of %d", event, err, s.forgotten+1, s.revision)
	}
	if _, _, err := s.Next(s.revision + 1); !apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge) {
		t.Errorf("too new: %v, want the cause ResourceVersionTooLarge", err)
	}
}

// heavy is an object whose JSON is smaller than MaxObject, and which is much larger in memory.
func heavy(round int) *corev1.ConfigMap {
	o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "heavy", Labels: map[string]string{}}}
	for i := range 6000 {
		o.Labels[strconv.FormatInt(int64(round*6000+i), 36)] = ""
	}
	return o
}

// However large the objects are, what is remembered has a size. Neither they nor their history
// take more memory than a server has.
func TestMemory(t *testing.T) {
	s := New(decode)
	live := func() uint64 {
		var stats runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}
	before := live()
	for round := range 200 {
		if err := writeObject(s, "heavy", heavy(round)); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := s.Next(s.revision - 10); err != nil {
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
	s := New(decode)
	large, n := strings.Repeat("x", MaxObject/4), 0
	var err error
	for ; err == nil && n < MaxObjects; n++ {
		err = write(s, strconv.Itoa(n), large)
	}
	if !apierrors.IsForbidden(err) || n > MaxBytes/len(large)+1 {
		t.Fatalf("after %d objects of %d bytes: %v, want 403", n, len(large), err)
	}
	if err := write(s, "0", large+large+large); !apierrors.IsForbidden(err) {
		t.Errorf("a larger one in its place: %v, want 403", err)
	}
	if err := write(s, "0", large+large+large, "a-finalizer"); err != nil {
		t.Errorf("a larger one that is being deleted: %v", err)
	}
	put(t, s, "1", "smaller")
	put(t, s, "2", "")
}

// An object is encoded and decoded before the lock is taken: other requests do not wait for it.
func TestNoDecodingUnderTheLock(t *testing.T) {
	var s *Storage
	s = New(func(text []byte) (Object, error) {
		if s.mu.TryLock() {
			s.mu.Unlock()
		} else {
			t.Error("the storage is locked")
		}
		return decode(text)
	})
	put(t, s, "a", "1")
	put(t, s, "a", "2")
}

// A write that began with another object is to begin anew.
func TestErrChanged(t *testing.T) {
	s := New(decode)
	put(t, s, "a", "1")
	before, _ := s.Get(keyOf("a"))
	put(t, s, "a", "2")
	for _, next := range []Object{nil, &corev1.ConfigMap{}, before} {
		if err := s.Write(keyOf("a"), false, before, next, func(map[Key]Object) error { return nil }); !errors.Is(err, ErrChanged) {
			t.Errorf("%v: %v, want ErrChanged", next, err)
		}
	}
}

// Neither an object nor their number exceeds its limit. What is there can be changed, go, and
// lose its finalizers even then.
func TestFull(t *testing.T) {
	s := New(decode)
	large := strings.Repeat("x", MaxObject)
	if err := write(s, "a", large); !apierrors.IsRequestEntityTooLargeError(err) {
		t.Errorf("a large object: %v, want 413", err)
	}
	if err := write(s, "a", large, "a-finalizer"); err != nil {
		t.Errorf("a large object that is being deleted: %v", err)
	}
	for i := range MaxObjects {
		s.objects[keyOf(strconv.Itoa(i))] = &corev1.ConfigMap{}
	}
	if err := write(s, "c", "new"); !apierrors.IsForbidden(err) {
		t.Errorf("one too many: %v, want 403", err)
	}
	put(t, s, "1", "changed")
	put(t, s, "1", "")
}
