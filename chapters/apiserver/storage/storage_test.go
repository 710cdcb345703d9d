package storage

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
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
	return s.Write(keyOf(name), false, func(Object, map[Key]Object) (Object, error) {
		if value == "" {
			return nil, nil
		}
		o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"value": value}}
		if o.Finalizers = finalizers; len(finalizers) > 0 {
			o.DeletionTimestamp = &metav1.Time{}
		}
		return o, nil
	})
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
	for i := range 2*MaxEvents + 1 {
		s.apply(Event{Revision: s.revision + 1, Key: keyOf(strconv.Itoa(i))})
	}
	if _, _, err := s.Next(s.forgotten - 1); !apierrors.IsResourceExpired(err) {
		t.Errorf("too old: %v, want 410", err)
	}
	event, _, err := s.Next(s.forgotten)
	if err != nil || event.Revision != s.forgotten+1 || s.revision-s.forgotten < MaxEvents {
		t.Errorf("the first event that is known is %v (%v), want that of %d of %d", event, err, s.forgotten+1, s.revision)
	}
	if _, _, err := s.Next(s.revision + 1); !apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge) {
		t.Errorf("too new: %v, want the cause ResourceVersionTooLarge", err)
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
