package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"example.com/byhand/api/examples-gzh.com/v1alpha1"
	"example.com/byhand/controller"
)

// adds is the patch that adds the finalizer to a Project as it is.
func adds(project *v1alpha1.Project, finalizers string) string {
	return fmt.Sprintf(`PATCH projects/p [{"op":"test","path":"/metadata/resourceVersion","value":"%s"},{"op":"add","path":"/metadata/finalizers","value":%s}]`, project.ResourceVersion, finalizers)
}

// removes is the patch that removes the finalizer from a place.
func removes(project *v1alpha1.Project, place int) string {
	return fmt.Sprintf(`PATCH projects/p [{"op":"test","path":"/metadata/uid","value":"%s"},{"op":"test","path":"/metadata/finalizers/%d","value":"examples-gzh.com/volumes"},{"op":"remove","path":"/metadata/finalizers/%d"}]`, project.UID, place, place)
}

// A life: the finalizer, volumes, more of them, fewer, none.
func TestLife(t *testing.T) {
	w := newWorld(t)
	p := w.create("p", 2)
	w.step("p", adds(p, `["examples-gzh.com/volumes"]`))
	w.told("Normal VolumesReady 2 volumes: 2 created, 0 deleted")
	w.has(p.UID, 0, 1)

	// The cache does not show the finalizer yet: it is not added again.
	if again := w.must("p"); again != controller.CacheRetry {
		t.Errorf("look again after %s, want %s", again, controller.CacheRetry)
	}
	w.step("p")
	w.told()

	w.change("p", scaled(4))
	w.step("p")
	w.told("Normal VolumesReady 4 volumes: 2 created, 0 deleted")
	w.has(p.UID, 0, 1, 2, 3)

	// A person removes the finalizer from a Project that stays: it comes back.
	w.change("p", finalized())
	w.step("p", adds(w.project("p"), `["examples-gzh.com/volumes"]`))
	w.told()

	// Volumes are deleted after a look at the Project itself.
	w.change("p", scaled(1))
	w.step("p", "GET projects/p")
	w.told("Normal VolumesReady 1 volumes: 0 created, 3 deleted")
	w.has(p.UID, 0)

	w.delete("p")
	w.step("p", removes(p, 0))
	w.isEmpty()
	w.waitsFor()
	if again := w.must("p"); again != controller.CacheRetry {
		t.Errorf("look again after %s, want %s", again, controller.CacheRetry)
	}
	w.step("p")
	w.told()
}

// A cache that is behind deletes no volume.
func TestStaleCacheDeletesNothing(t *testing.T) {
	for _, test := range []struct {
		reason    string
		meanwhile func(w *world)
	}{
		{"the Project asks for more", func(w *world) { w.change("p", scaled(3)) }},
		{"it is another Project", func(w *world) {
			w.change("p", finalized())
			w.delete("p")
			w.create("p", 1)
		}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			w := newWorld(t)
			p := w.create("p", 3)
			w.settle("p")
			w.change("p", scaled(1))
			w.sync()
			test.meanwhile(w)
			if _, err := w.reconcile("p"); !apierrors.IsConflict(err) {
				t.Errorf("error %v, want a Conflict", err)
			}
			w.has(p.UID, 0, 1, 2)
		})
	}
}

// More volumes than are allowed: an Event, nothing else, and no harm for others.
func TestTooMany(t *testing.T) {
	const tooMany = "Warning TooManyVolumes spec.replicas is 1000000000, and a Project may have 10 volumes (--max-volumes): none is created or deleted"
	w := newWorld(t)
	p, other := w.create("p", 1_000_000_000), w.create("other", 10)
	// One that has volumes keeps them. Another Event is for another number only.
	for _, step := range []struct {
		replicas int32
		told     string
		has      []int
	}{
		{1_000_000_000, tooMany, nil},
		{2, "Normal VolumesReady 2 volumes: 2 created, 0 deleted", []int{0, 1}},
		{1_000_000_000, tooMany, []int{0, 1}},
		{2, "Normal VolumesReady 2 volumes: 0 created, 0 deleted", []int{0, 1}},
		{1_000_000_000, tooMany, []int{0, 1}},
	} {
		w.change("p", scaled(step.replicas))
		w.settle("p")
		w.must("p")
		w.told(step.told)
		w.has(p.UID, step.has...)
	}
	w.settle("other")
	w.told("Normal VolumesReady 10 volumes: 10 created, 0 deleted")
	w.has(other.UID, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9)

	w.delete("p")
	w.settle("p")
	w.has(p.UID)
	w.waitsFor()
	for key := range w.reconciler.warnings.Range {
		t.Errorf("what was said of %v is still in memory", key)
	}
}

// A storage that refuses: one Event, however often it is tried, and one when it is over.
// A Project that is being deleted waits.
func TestStorageFails(t *testing.T) {
	const failed = "Warning VolumesFailed read-only file system"
	w := newWorld(t)
	w.create("p", 2)
	w.storage.err = syscall.EROFS
	fails := func() {
		t.Helper()
		for range 3 {
			w.sync()
			if _, err := w.reconcile("p"); err == nil {
				t.Error("no error: it would not be tried again")
			}
		}
	}
	fails()
	w.told(failed)
	w.isEmpty()

	// Another Project of this name is told, too.
	w.change("p", finalized())
	w.delete("p")
	w.create("p", 2)
	fails()
	w.told(failed)

	w.storage.err = nil
	w.settle("p")
	w.told("Normal VolumesReady 2 volumes: 2 created, 0 deleted")

	w.storage.err = syscall.EROFS
	w.delete("p")
	fails()
	w.told(failed)
	if w.project("p") == nil {
		t.Error("the Project went before its volumes")
	}
	w.storage.err = nil
	w.settle("p")
	w.isEmpty()
	w.waitsFor()
}

// The process is killed before and after each step that it takes: each write to the API
// server, each change of the storage. Whatever is left, the next process ends the work.
func TestKilledAtEachStep(t *testing.T) {
	for _, others := range [][]string{nil, {"a.example.com/x"}} {
		for killAt, wasKilled := 1, true; wasKilled; killAt++ {
			t.Run(fmt.Sprintf("others %v, step %d", others, killAt), func(t *testing.T) {
				wasKilled = false
				w := newWorld(t)
				w.killAt = killAt
				p := w.create("p", 2, others...)
				w.settle("p")
				w.has(p.UID, 0, 1)
				data := filepath.Join(string(w.directory), string(p.UID), "0", "data")
				if err := os.WriteFile(data, nil, 0o600); err != nil {
					t.Fatal(err)
				}
				w.change("p", scaled(4))
				w.settle("p")
				w.has(p.UID, 0, 1, 2, 3)
				w.change("p", scaled(1))
				w.settle("p")
				w.has(p.UID, 0)
				if _, err := os.Stat(data); err != nil {
					t.Errorf("a volume that stays has lost its data: %v", err)
				}
				w.waitsFor(append(slices.Clone(others), finalizer)...)
				w.delete("p")
				w.settle("p")
				w.isEmpty()
				w.waitsFor(others...)
				wasKilled = w.effects >= killAt
			})
		}
	}
}
