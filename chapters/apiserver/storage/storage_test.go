package storage

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
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

func open(t *testing.T, dir string) *Storage {
	t.Helper()
	s, err := Open(dir, decode)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
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

// values returns what is stored, as it was at a revision.
func values(t *testing.T, s *Storage, revision int64) map[string]string {
	t.Helper()
	objects, _, err := s.List("configmaps", "", revision)
	if err != nil {
		t.Fatalf("list at %d: %v", revision, err)
	}
	found := map[string]string{}
	for _, o := range objects {
		found[o.GetName()] = o.(*corev1.ConfigMap).Data["value"]
	}
	return found
}

// Whatever is written, each revision that is remembered can be listed, and the events after
// it lead from there to now. A journal that is read again says the same. One that was made
// anew says what there is, and how far it was.
func TestHistory(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	dir := t.TempDir()
	s := open(t, dir)
	history := map[int64]map[string]string{0: {}}
	now := map[string]string{}
	for range 200 {
		name, value := strconv.Itoa(random.IntN(5)), []string{"", "a", "b"}[random.IntN(3)]
		before := s.revision
		revision := put(t, s, name, value)
		if revision == before {
			continue // Nothing has changed.
		}
		if now[name] = value; value == "" {
			delete(now, name)
		}
		history[revision] = maps.Clone(now)
	}
	check := func(reason string, s *Storage, oldest int64) {
		t.Helper()
		for revision, want := range history {
			if revision < oldest {
				continue
			}
			if revision > 0 {
				if diff := cmp.Diff(want, values(t, s, revision)); diff != "" {
					t.Errorf("%s, at %d (-want +got):\n%s", reason, revision, diff)
				}
			}
			got := maps.Clone(want)
			for event, _, err := s.Next(revision); event != nil || err != nil; event, _, err = s.Next(event.Revision) {
				if err != nil {
					t.Fatal(err)
				}
				if delete(got, event.Key.Name); event.After != nil {
					got[event.Key.Name] = event.After.(*corev1.ConfigMap).Data["value"]
				}
			}
			if diff := cmp.Diff(now, got); diff != "" {
				t.Errorf("%s, from %d to now (-want +got):\n%s", reason, revision, diff)
			}
		}
	}
	check("as written", s, 1)
	last := s.revision
	reopen := func(reason string) {
		t.Helper()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if s = open(t, dir); s.revision != last {
			t.Errorf("%s: the revision is %d, was %d", reason, s.revision, last)
		}
	}
	reopen("after a restart")
	check("read again", s, 1)
	if err := s.journal.rewrite(s.records()); err != nil {
		t.Fatal(err)
	}
	reopen("after it was made anew")
	check("made anew", s, last)
	if _, _, err := s.Next(last - 1); !apierrors.IsResourceExpired(err) {
		t.Errorf("what happened before the journal was made anew: %v, want 410", err)
	}
}

// Events are forgotten, the oldest first. A client that asks for them is told.
func TestForgotten(t *testing.T) {
	s := open(t, t.TempDir())
	for i := range 2*MaxEvents + 1 {
		s.apply(Event{Revision: int64(i + 1), Key: keyOf("a")}, 0)
	}
	if _, _, err := s.Next(s.forgotten - 1); !apierrors.IsResourceExpired(err) {
		t.Errorf("too old: %v, want 410", err)
	}
	if _, _, err := s.List("configmaps", "", s.forgotten-1); !apierrors.IsResourceExpired(err) {
		t.Errorf("a list of what is too old: %v, want 410", err)
	}
	event, _, err := s.Next(s.forgotten)
	if err != nil || event.Revision != s.forgotten+1 || s.revision-s.forgotten < MaxEvents {
		t.Errorf("the first event that is known is %v (%v), want that of %d of %d", event, err, s.forgotten+1, s.revision)
	}
	if _, _, err := s.Next(s.revision + 1); !apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge) {
		t.Errorf("too new: %v, want the cause ResourceVersionTooLarge", err)
	}
}

// A kill while a line is written leaves part of it. That write was not answered, and all others
// are there. It can be written again.
func TestTruncatedJournal(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	put(t, s, "a", "1")
	size := s.journal.size
	put(t, s, "b", "2")
	file := filepath.Join(dir, "journal")
	whole, err := os.ReadFile(file)
	if err = errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	for end := size; end < len(whole); end++ {
		if err := os.WriteFile(file, whole[:end], 0o600); err != nil {
			t.Fatal(err)
		}
		s := open(t, dir)
		want := map[string]string{"a": "1"}
		if end == len(whole)-1 { // Only the end of the line is missing.
			want["b"] = "2"
		}
		if diff := cmp.Diff(want, values(t, s, 0)); diff != "" {
			t.Errorf("%d of %d bytes (-want +got):\n%s", end, len(whole), diff)
		}
		put(t, s, "c", "3")
		_ = s.Close()
		s = open(t, dir)
		want["c"] = "3"
		if diff := cmp.Diff(want, values(t, s, 0)); diff != "" {
			t.Errorf("written after %d of %d bytes (-want +got):\n%s", end, len(whole), diff)
		}
		_ = s.Close()
	}
}

// Any other damage is said, with its place. To go on without it would lose what was answered.
func TestDamagedJournal(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	put(t, s, "a", "1")
	size := s.journal.size
	put(t, s, "b", "2")
	file := filepath.Join(dir, "journal")
	whole, err := os.ReadFile(file)
	whole[size] = 'x'
	if err := errors.Join(err, s.Close(), os.WriteFile(file, whole, 0o600)); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("is damaged after byte %d:", size)
	if _, err := Open(dir, decode); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want an error that says %q", err, want)
	}
}

// A second process gets an error, and does no harm.
func TestOneProcess(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	if second, err := Open(dir, decode); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("a second one: %v, %v; want an error", second, err)
	}
	put(t, s, "a", "1")
}

// When the disk refuses, nothing is written any more, and what is stored stays readable.
func TestDiskFails(t *testing.T) {
	s := open(t, t.TempDir())
	put(t, s, "a", "1")
	if err := s.journal.file.Close(); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		if err := write(s, "b", "2"); !apierrors.IsInternalError(err) {
			t.Errorf("write %d: %v, want an internal error", i, err)
		}
	}
	if diff := cmp.Diff(map[string]string{"a": "1"}, values(t, s, 0)); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}
}

// A journal does not grow for ever, and watchers do not notice.
func TestJournalIsMadeAnew(t *testing.T) {
	s := open(t, t.TempDir())
	s.journal.size = MaxStored
	revision := put(t, s, "a", "1")
	if s.journal.size > 1000 {
		t.Errorf("the journal has %d bytes", s.journal.size)
	}
	if event, _, err := s.Next(revision - 1); err != nil || event == nil {
		t.Errorf("event %v (%v), want one", event, err)
	}
	put(t, s, "b", "2")
}

// Neither an object nor all of them exceed their size. What is there can shrink, go, and lose
// its finalizers even then.
func TestFull(t *testing.T) {
	s := open(t, t.TempDir())
	large := strings.Repeat("x", MaxObject)
	if err := write(s, "a", large); !apierrors.IsRequestEntityTooLargeError(err) {
		t.Errorf("a large object: %v, want 413", err)
	}
	if err := write(s, "a", large, "a-finalizer"); err != nil {
		t.Errorf("a large object that is being deleted: %v", err)
	}
	put(t, s, "b", "two")
	for _, test := range []struct {
		name, value string
		want        metav1.StatusReason
	}{{"c", "new", "InsufficientStorage"}, {"b", "three", "InsufficientStorage"}, {"b", "1", ""}, {"b", "", ""}} {
		s.size = MaxStored
		if err := write(s, test.name, test.value); apierrors.ReasonForError(err) != test.want {
			t.Errorf("%s = %q in a full storage: %v, want %q", test.name, test.value, err, test.want)
		}
	}
	s.size = 0
	for i := range MaxObjects {
		s.objects[keyOf(strconv.Itoa(i))] = &corev1.ConfigMap{}
	}
	if err := write(s, "c", "new"); apierrors.ReasonForError(err) != "InsufficientStorage" {
		t.Errorf("one too many: %v, want 507", err)
	}
}
