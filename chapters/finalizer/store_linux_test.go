package main

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

// In a read-only store nothing is created or deleted, and what is not there need not be
// deleted. It works again when it can be written, without a restart.
func TestReadOnlyDirectory(t *testing.T) {
	d, ctx := directory(t.TempDir()), t.Context()
	create(t, d, uid(1), 0)
	mode := func(mode os.FileMode) {
		if err := os.Chmod(string(d), mode); err != nil {
			t.Fatal(err)
		}
	}
	mode(0o555)
	defer mode(0o700)
	if os.Geteuid() == 0 {
		// Root may write whatever the mode says. So this thread comes to files as another user,
		// who may look into the test's folder.
		if err := os.Chmod(filepath.Dir(string(d)), 0o755); err != nil {
			t.Fatal(err)
		}
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		_ = syscall.Setfsuid(65534)
	}
	for _, err := range []error{d.Create(ctx, uid(2), 0), d.DeleteAll(ctx, uid(1))} {
		if !errors.Is(err, syscall.EROFS) && !errors.Is(err, os.ErrPermission) {
			t.Errorf("error %v, want one that says read-only", err)
		}
	}
	if err := errors.Join(d.Delete(ctx, uid(2), 0), d.DeleteAll(ctx, uid(2))); err != nil {
		t.Errorf("delete what is not there: %v", err)
	}
	if os.Geteuid() == 0 {
		_ = syscall.Setfsuid(0)
	}
	mode(0o700)
	create(t, d, uid(2), 0)
	if err := d.DeleteAll(ctx, uid(1)); err != nil {
		t.Error(err)
	}
}
