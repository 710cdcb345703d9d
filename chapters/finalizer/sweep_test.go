package main

import (
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"example.com/byhand/api/examples-gzh.com/v1alpha1"
)

// Volumes whose Project is gone are deleted, all others stay. Where the cache has the Project of
// each folder, no request is sent.
func TestSweep(t *testing.T) {
	w := newWorld(t)
	p := w.create("p", 2)
	w.settle("p")
	w.requests = nil
	w.sweeps()
	w.sent()
	unseen := w.create("unseen", 1, finalizer) // As a Project of another namespace, with --namespace.
	w.createVolumes(unseen.UID)
	w.createVolumes(uid(3))
	outside := t.TempDir()
	path := func(name string) string { return filepath.Join(string(w.directory), name) }
	for _, err := range []error{
		os.Mkdir(path("lost+found"), 0o700),
		os.WriteFile(path(string(uid(4))), nil, 0o600),
		os.WriteFile(filepath.Join(outside, "precious"), nil, 0o600),
		os.Symlink(outside, path(string(uid(5)))),
		os.Symlink(outside, path(string(uid(3))+"/0/link")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	w.requests = nil
	w.sweeps()
	w.sent("GET projects")
	w.has(p.UID, 0, 1)
	w.has(unseen.UID, 0)
	if _, err := os.Lstat(path(string(uid(3)))); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the orphan's folder: %v, want none", err)
	}
	for _, name := range []string{path("lost+found"), path(string(uid(4))), path(string(uid(5))), filepath.Join(outside, "precious")} {
		if _, err := os.Lstat(name); err != nil {
			t.Errorf("what is not ours was deleted: %v", err)
		}
	}
}

// A Project comes, with volumes that another process has created, while a sweep runs:
// between the folders and the list, and after the list.
func TestSweepMeetsNewProject(t *testing.T) {
	w := newWorld(t)
	w.createVolumes(uid(1))
	var p, q *v1alpha1.Project
	w.storage.afterOwners = func() {
		p = w.create("p", 1, finalizer)
		w.createVolumes(p.UID)
	}
	w.api.Intercept(func(answer http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet {
			return false
		}
		w.api.Next.ServeHTTP(answer, r)
		q = w.create("q", 1, finalizer)
		w.createVolumes(q.UID)
		return true
	})
	w.sweeps()
	w.has(p.UID, 0)
	w.has(q.UID, 0)
	w.has(uid(1))
}

// An answer that is not the whole list proves nothing. A client decodes each but the first without
// an error.
func TestSweepOfAnotherAnswer(t *testing.T) {
	for _, body := range []string{`{`, `{}`, `{"kind":"Status","apiVersion":"v1","status":"Success"}`,
		`{"kind":"FooList","apiVersion":"samplecontroller.k8s.io/v1alpha1","metadata":{"resourceVersion":"9"},"items":[]}`,
		`{"kind":"ProjectList","apiVersion":"examples-gzh.com/v1alpha1","metadata":{"resourceVersion":"9","continue":"page 2"},"items":[]}`} {
		w := newWorld(t)
		w.createVolumes(uid(1))
		w.api.Intercept(func(answer http.ResponseWriter, _ *http.Request) bool {
			answer.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(answer, body)
			return true
		})
		if err := w.reconciler.sweep(t.Context()); err == nil {
			t.Errorf("no error: %s", body)
		}
		w.has(uid(1), 0)
	}
}

func (w *world) sweeps() {
	w.Helper()
	if err := w.reconciler.sweep(w.Context()); err != nil {
		w.Errorf("sweep: %v", err)
	}
}

// createVolumes creates the first volume of an owner.
func (w *world) createVolumes(owner types.UID) {
	w.Helper()
	if err := w.directory.Create(w.Context(), owner, 0); err != nil {
		w.Fatal(err)
	}
}
