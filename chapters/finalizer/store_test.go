package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// TestDirectoryIsGone verifies that a missing store is an error. If it counted as empty, its volumes
// would count as deleted.
func TestDirectoryIsGone(t *testing.T) {
	d := directory(filepath.Join(t.TempDir(), "gone"))
	_, owners := d.Owners(t.Context())
	_, volumes := d.Volumes(t.Context(), uid(1))
	if created := d.Create(t.Context(), uid(1), 1); !errors.Is(owners, os.ErrNotExist) || !errors.Is(volumes, os.ErrNotExist) || !errors.Is(created, os.ErrNotExist) {
		t.Errorf("errors %v, %v, %v, want %v", owners, volumes, created, os.ErrNotExist)
	}
}

func create(t *testing.T, d directory, owner types.UID, n int) {
	t.Helper()
	if err := d.Create(t.Context(), owner, n); err != nil {
		t.Fatal(err)
	}
}
