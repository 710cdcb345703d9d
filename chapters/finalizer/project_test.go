package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"example.com/byhand/controller"
)

// TestLife takes a Project through its life: it gets the finalizer and volumes, more, fewer, none. After
// each write the next reconcile waits until the cache shows the write.
func TestLife(t *testing.T) {
	w := newWorld(t)
	uid := w.create("p", 2)
	w.sync()
	w.must("PATCH projects/p")
	w.told("Normal VolumesReady 2 volumes: 2 created, 0 deleted")
	w.has(uid, 0, 1)
	if again := w.must(); again != controller.CacheRetry {
		t.Errorf("requeue after %s, want %s", again, controller.CacheRetry)
	}
	w.sync()
	w.must()
	w.told()

	// Volumes are deleted only after a GET of the Project.
	w.change(scaled(1))
	w.sync()
	w.must("GET projects/p")
	w.told("Normal VolumesReady 1 volumes: 0 created, 1 deleted")
	w.has(uid, 0)

	w.delete()
	w.sync()
	w.must("PATCH projects/p")
	w.isEmpty()
	w.waitsFor()
	if again := w.must(); again != controller.CacheRetry {
		t.Errorf("requeue after %s, want %s", again, controller.CacheRetry)
	}
	w.sync()
	w.must()
	w.told()
}

// TestConflict: if the Project has changed since the version in the cache, the patch is rejected, and
// no finalizer is lost.
func TestConflict(t *testing.T) {
	set := func(finalizers ...string) func(*world) {
		return func(w *world) { w.change(finalized(finalizers...)) }
	}
	for _, test := range []struct {
		reason    string
		isDeleted bool
		first     []string
		meanwhile func(w *world)
		want      []string
	}{
		{"added when another client has added one", false, nil, set("a.example.com/x"), []string{"a.example.com/x", finalizer}},
		{"removed when the one before it is gone", true, []string{"a.example.com/x", finalizer, "b.example.com/x"}, set(finalizer, "b.example.com/x"), []string{"b.example.com/x"}},
		// The API server would reject a new finalizer.
		{"not added during deletion", false, []string{"a.example.com/x"}, (*world).delete, []string{"a.example.com/x"}},
		// Volumes belong to a UID: the first Project's volumes are deleted.
		{"not removed from a new Project of this name", true, []string{finalizer}, func(w *world) {
			create(w.T, w.directory, w.api.Get(projects+"p").GetUID(), 0)
			w.change(finalized())
			w.create("p", 1, finalizer)
		}, []string{finalizer}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			w := newWorld(t)
			w.create("p", 1, test.first...)
			if test.isDeleted {
				w.delete()
			}
			w.sync()
			test.meanwhile(w)
			before := w.api.Version()
			if _, err := w.reconcile(); !apierrors.IsConflict(err) {
				t.Errorf("error %v, want a Conflict", err)
			}
			if after := w.api.Version(); after != before {
				t.Errorf("something was written: version %d, was %d", after, before)
			}
			w.isEmpty()
			w.told()

			w.must() // sends nothing until the cache shows the change
			w.settle()
			w.waitsFor(test.want...)
		})
	}
}

// TestStaleCacheDeletesNothing verifies that a stale cache deletes no volume.
func TestStaleCacheDeletesNothing(t *testing.T) {
	for reason, meanwhile := range map[string]func(w *world){
		"the Project asks for more": func(w *world) { w.change(scaled(3)) },
		"the Project was recreated": func(w *world) {
			w.change(finalized())
			w.delete()
			w.create("p", 1)
		},
	} {
		t.Run(reason, func(t *testing.T) {
			w := newWorld(t)
			uid := w.create("p", 3)
			w.settle()
			w.change(scaled(1))
			w.sync()
			meanwhile(w)
			if _, err := w.reconcile(); !apierrors.IsConflict(err) {
				t.Errorf("error %v, want a Conflict", err)
			}
			w.has(uid, 0, 1, 2)
		})
	}
}

// TestStorageFails: a failing storage is reported in an Event and retried.
func TestStorageFails(t *testing.T) {
	w := newWorld(t)
	fails := func() {
		t.Helper()
		w.storage.err = syscall.EROFS
		w.sync()
		if _, err := w.reconcile(); err == nil {
			t.Error("no error: the key would not be retried")
		}
		w.told("Warning VolumesFailed read-only file system")
		w.storage.err = nil
	}
	w.create("p", 2)
	fails()
	w.settle()
	w.told("Normal VolumesReady 2 volumes: 2 created, 0 deleted")
	w.delete()
	fails()
	w.waitsFor(finalizer)
	w.settle()
	w.isEmpty()
	w.waitsFor()
}

// TestKilledAtEachStep: the next process completes the work, wherever the first one was killed.
func TestKilledAtEachStep(t *testing.T) {
	for _, others := range [][]string{nil, {"a.example.com/x"}} {
		for killAt, wasKilled := 1, true; wasKilled; killAt++ {
			t.Run(fmt.Sprintf("others %v, step %d", others, killAt), func(t *testing.T) {
				wasKilled = false
				w := newWorld(t)
				w.killAt = killAt
				uid := w.create("p", 2, others...)
				w.settle()
				w.has(uid, 0, 1)
				data := filepath.Join(string(w.directory), string(uid), "0", "data")
				if err := os.WriteFile(data, nil, 0o600); err != nil {
					t.Fatal(err)
				}
				w.change(scaled(4))
				w.settle()
				w.has(uid, 0, 1, 2, 3)
				w.change(scaled(1))
				w.settle()
				w.has(uid, 0)
				if _, err := os.Stat(data); err != nil {
					t.Errorf("a volume that stays has lost its data: %v", err)
				}
				w.waitsFor(append(slices.Clone(others), finalizer)...)
				w.delete()
				w.settle()
				w.isEmpty()
				w.waitsFor(others...)
				wasKilled = w.effects >= killAt
			})
		}
	}
}
