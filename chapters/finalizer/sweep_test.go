package main

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// TestSweep verifies that volumes whose Project is gone are deleted. All others stay, even the volumes
// of a Project created during a sweep. If the cache has the Project of each folder, no request is sent.
func TestSweep(t *testing.T) {
	w := newWorld(t)
	p := w.create("p", 2)
	w.settle()
	w.api.Forget()
	w.sweeps()
	if log := w.api.Log(); len(log) > 0 {
		t.Errorf("the sweep sent %+v, want nothing", log)
	}
	unseen := w.create("unseen", 1, finalizer) // like a Project of another namespace, with --namespace
	create(t, w.directory, unseen, 0)
	create(t, w.directory, uid(3), 0)
	foreign := []string{filepath.Join(string(w.directory), "lost+found"), filepath.Join(string(w.directory), string(uid(4)))}
	if err := errors.Join(os.Mkdir(foreign[0], 0o700), os.WriteFile(foreign[1], nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	var late types.UID
	w.api.Intercept(func(answer http.ResponseWriter, r *http.Request) bool {
		w.api.Next.ServeHTTP(answer, r)
		late = w.create("late", 1, finalizer) // by another process, during the list
		create(t, w.directory, late, 0)
		return true
	})
	w.sweeps()
	w.has(p, 0, 1)
	w.has(unseen, 0)
	w.has(late, 0)
	w.has(uid(3))
	for _, name := range foreign {
		if _, err := os.Lstat(name); err != nil {
			t.Errorf("a foreign file was deleted: %v", err)
		}
	}
}

func (w *world) sweeps() {
	w.Helper()
	if err := w.reconciler.sweep(w.Context()); err != nil {
		w.Errorf("sweep: %v", err)
	}
}
