package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// A store that is gone is an error, not an empty store: otherwise its volumes would be
// taken for deleted.
func TestDirectoryIsGone(t *testing.T) {
	d := directory(filepath.Join(t.TempDir(), "gone"))
	_, owners := d.Owners(t.Context())
	_, volumes := d.Volumes(t.Context(), uid(1))
	for i, err := range []error{owners, volumes, d.Create(t.Context(), uid(1), 1), d.DeleteAll(t.Context(), uid(1))} {
		if !errors.Is(err, os.ErrNotExist) {
			t.Errorf("call %d: error %v, want %v", i, err, os.ErrNotExist)
		}
	}
}

func create(t *testing.T, d directory, owner types.UID, n int) {
	t.Helper()
	if err := d.Create(t.Context(), owner, n); err != nil {
		t.Fatal(err)
	}
}
