package main

import (
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/byhand/chapters/restaurant/v1beta1"
)

func open(t *testing.T, dir string) *storage {
	t.Helper()
	s, err := openStorage(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.close() })
	return s
}

// put stores a topping, or removes it if cost is negative, and returns the revision.
func put(t *testing.T, s *storage, name string, cost int32) int64 {
	t.Helper()
	err := s.write(toppingKey(name), false, func(_ object, _ map[key]object) (object, error) {
		if cost < 0 {
			return nil, nil
		}
		topping := &v1beta1.Topping{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1beta1.ToppingSpec{Cost: cost}}
		return to(hub, topping), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return s.revision
}

// costs returns what is stored, as it was at a revision.
func costs(t *testing.T, s *storage, revision int64) map[string]int32 {
	t.Helper()
	objects, _, err := s.list("toppings", "", revision)
	if err != nil {
		t.Fatalf("list at %d: %v", revision, err)
	}
	found := map[string]int32{}
	for _, o := range objects {
		found[o.GetName()] = o.(*v1beta1.Topping).Spec.Cost
	}
	return found
}

// Whatever is written, each revision that is remembered can be listed, and the events after
// it lead from there to now. A journal that is read again says the same, and a compacted
// one too.
func TestHistory(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	dir := t.TempDir()
	s := open(t, dir)
	history := map[int64]map[string]int32{0: {}}
	now := map[string]int32{}
	for range 200 {
		name, cost := strconv.Itoa(random.IntN(5)), int32(random.IntN(4)-1)
		before := s.revision
		revision := put(t, s, name, cost)
		if revision == before {
			continue // Nothing has changed.
		}
		if now[name] = cost; cost < 0 {
			delete(now, name)
		}
		history[revision] = maps.Clone(now)
	}
	check := func(reason string, s *storage, oldest int64) {
		t.Helper()
		for revision, want := range history {
			if revision < oldest {
				continue
			}
			if revision > 0 {
				if diff := cmp.Diff(want, costs(t, s, revision)); diff != "" {
					t.Errorf("%s, at %d (-want +got):\n%s", reason, revision, diff)
				}
			}
			events, _, err := s.since(revision)
			if err != nil {
				t.Fatal(err)
			}
			got := maps.Clone(want)
			for _, event := range events {
				if delete(got, event.key.Name); event.after != nil {
					got[event.key.Name] = event.after.(*v1beta1.Topping).Spec.Cost
				}
			}
			if diff := cmp.Diff(now, got); diff != "" {
				t.Errorf("%s, from %d to now (-want +got):\n%s", reason, revision, diff)
			}
		}
	}
	check("as written", s, 1)
	last := s.revision
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	if s.revision != last {
		t.Errorf("after a restart the revision is %d, was %d", s.revision, last)
	}
	check("read again", s, 1)

	if err := errors.Join(s.journal.compact(s.revision, s.objects), s.close()); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	check("compacted", s, last)
	if s.revision != last {
		t.Errorf("after it was compacted the revision is %d, was %d", s.revision, last)
	}
	if _, _, err := s.since(last - 1); !apierrors.IsResourceExpired(err) {
		t.Errorf("what happened before a compacted journal: %v, want 410", err)
	}
}

// Events are forgotten, the oldest first. Who asks for them is told.
func TestForgotten(t *testing.T) {
	s := open(t, t.TempDir())
	for i := range 2*maxEvents + 1 {
		s.apply(event{revision: int64(i + 1), key: toppingKey("salami")})
	}
	if _, _, err := s.since(s.forgotten - 1); !apierrors.IsResourceExpired(err) {
		t.Errorf("too old: %v, want 410", err)
	}
	if _, _, err := s.list("toppings", "", s.forgotten-1); !apierrors.IsResourceExpired(err) {
		t.Errorf("a list of what is too old: %v, want 410", err)
	}
	events, _, err := s.since(s.forgotten)
	if err != nil || len(events) < maxEvents || events[0].revision != s.forgotten+1 {
		t.Errorf("there are %d events (%v), want at least %d, all after %d", len(events), err, maxEvents, s.forgotten)
	}
	if _, _, err := s.since(s.revision + 1); !apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge) {
		t.Errorf("too new: %v, want the cause ResourceVersionTooLarge", err)
	}
}

// Who is killed while a line is written leaves part of it. That write was not answered, and
// all others are there.
func TestTruncatedJournal(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	put(t, s, "tomato", 1)
	want := costs(t, s, 0)
	file := filepath.Join(dir, "journal")
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, "salami", 2)
	more, err := os.ReadFile(file)
	if err = errors.Join(err, s.close()); err != nil {
		t.Fatal(err)
	}
	for size := len(whole); size < len(more); size++ {
		if err := os.WriteFile(file, more[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := openStorage(dir)
		if err != nil {
			t.Fatalf("%d of %d bytes: %v", size, len(more), err)
		}
		if diff := cmp.Diff(want, costs(t, s, 0)); diff != "" {
			t.Errorf("%d of %d bytes (-want +got):\n%s", size, len(more), diff)
		}
		// It can be written again, and read.
		put(t, s, "basil", 3)
		if err := s.close(); err != nil {
			t.Fatal(err)
		}
		if s, err = openStorage(dir); err != nil {
			t.Fatalf("written after %d of %d bytes: %v", size, len(more), err)
		}
		_ = s.close()
	}
}

// Any other damage is said, with its line. To go on without it would lose what was answered.
func TestDamagedJournal(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	put(t, s, "tomato", 1)
	put(t, s, "salami", 2)
	file := filepath.Join(dir, "journal")
	whole, err := os.ReadFile(file)
	if err = errors.Join(err, s.close()); err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(whole), "\n")
	for reason, test := range map[string]struct{ content, want string }{
		"a letter is another one": {strings.Replace(string(whole), "tomato", "potato", 1), "line 1"},
		"a line is missing":       {lines[1] + lines[0], "line 2"},
		"a line is there twice":   {lines[0] + lines[0] + lines[1], "line 2"},
		"no checksum":             {lines[0] + "{}\n", "line 2"},
	} {
		if err := os.WriteFile(file, []byte(test.content), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := openStorage(dir)
		if err == nil {
			_ = s.close()
		}
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want an error that says %q", reason, err, test.want)
		}
	}
}

// A second process gets an error, and does no harm.
func TestOneProcess(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	if second, err := openStorage(dir); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("a second one: %v, %v; want an error", second, err)
	}
	put(t, s, "tomato", 1)
}

// When the disk refuses, nothing is written any more, and what is stored stays readable.
func TestDiskFails(t *testing.T) {
	s := open(t, t.TempDir())
	put(t, s, "tomato", 1)
	if err := s.journal.file.Close(); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		err := s.write(toppingKey("salami"), false, func(object, map[key]object) (object, error) {
			return &v1beta1.Topping{ObjectMeta: metav1.ObjectMeta{Name: "salami"}}, nil
		})
		if !apierrors.IsInternalError(err) {
			t.Errorf("write %d: %v, want an internal error", i, err)
		}
	}
	if diff := cmp.Diff(map[string]int32{"tomato": 1}, costs(t, s, 0)); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}
}

// A journal does not grow for ever.
func TestCompaction(t *testing.T) {
	s := open(t, t.TempDir())
	s.journal.lines = 10*maxEvents + 1000
	revision := put(t, s, "tomato", 1)
	if s.journal.lines > 10 {
		t.Errorf("the journal has %d lines, want a snapshot", s.journal.lines)
	}
	// Watchers do not notice.
	if events, _, err := s.since(revision - 1); err != nil || len(events) != 1 {
		t.Errorf("%d events (%v), want 1", len(events), err)
	}
	put(t, s, "salami", 2)
}
