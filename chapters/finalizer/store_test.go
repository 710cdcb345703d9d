package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// Every call may be made again. A volume that holds something goes with it. What people put
// into an owner's folder is no volume.
func TestDirectoryTwice(t *testing.T) {
	d, ctx := directory(t.TempDir()), t.Context()
	for _, call := range []struct {
		name string
		do   func() error
		want []int
	}{
		{"create 0", func() error { return d.Create(ctx, uid(1), 0) }, []int{0}},
		{"create 10", func() error { return d.Create(ctx, uid(1), 10) }, []int{0, 10}},
		{"put something in", func() error { return os.MkdirAll(filepath.Join(string(d), string(uid(1)), "007"), 0o700) }, []int{0, 10}},
		{"delete 0", func() error { return d.Delete(ctx, uid(1), 0) }, []int{10}},
		{"delete all", func() error { return d.DeleteAll(ctx, uid(1)) }, nil},
		{"delete 0 of none", func() error { return d.Delete(ctx, uid(1), 0) }, nil},
	} {
		for range 2 {
			if err := call.do(); err != nil {
				t.Errorf("%s: %v", call.name, err)
			}
			got, err := d.Volumes(ctx, uid(1))
			if err != nil || !slices.Equal(got, call.want) {
				t.Errorf("%s: the volumes are %v (%v), want %v", call.name, got, err, call.want)
			}
			for _, n := range got {
				if err := os.WriteFile(filepath.Join(string(d), volume(uid(1), n), "file"), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// A symlink does not lead out of the tree. What is behind it stays as it is.
func TestSymlinks(t *testing.T) {
	for link, to := range map[string]string{string(uid(1)): "../outside", string(uid(1)) + "/0": "../../outside"} {
		parent, ctx := t.TempDir(), t.Context()
		d, outside := directory(filepath.Join(parent, "store")), filepath.Join(parent, "outside", "0")
		link = filepath.Join(string(d), link)
		err := errors.Join(os.MkdirAll(outside, 0o700), os.MkdirAll(filepath.Dir(link), 0o700), os.Symlink(to, link))
		if err != nil {
			t.Fatal(err)
		}
		if volumes, _ := d.Volumes(ctx, uid(1)); len(volumes) > 0 {
			t.Errorf("%s: the volumes are %v, want none", link, volumes)
		}
		if err := d.Create(ctx, uid(1), 0); err == nil {
			t.Errorf("%s: create is no error", link)
		}
		_ = d.Delete(ctx, uid(1), 0)
		if err := d.DeleteAll(ctx, uid(1)); err != nil {
			t.Errorf("%s: delete all: %v", link, err)
		}
		if _, err := os.Lstat(link); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v, want none", link, err)
		}
		if _, err := os.Lstat(outside); err != nil {
			t.Error(err)
		}
	}
}

// An owner that is no UID, as a server may claim, is a path to the volumes of others.
func TestNoUID(t *testing.T) {
	d := directory(t.TempDir())
	create(t, d, uid(1), 0)
	for _, owner := range []types.UID{"", ".", "..", "a/..", uid(1) + "/.."} {
		for i, err := range callAll(t, d, owner) {
			if err == nil {
				t.Errorf("%q: call %d is no error", owner, i)
			}
		}
	}
}

// A store that is gone is an error, not an empty store: otherwise its volumes would be
// taken for deleted.
func TestDirectoryIsGone(t *testing.T) {
	d := directory(filepath.Join(t.TempDir(), "gone"))
	_, err := d.Owners(t.Context())
	for i, err := range append(callAll(t, d, uid(1)), err) {
		if !errors.Is(err, os.ErrNotExist) {
			t.Errorf("call %d: error %v, want %v", i, err, os.ErrNotExist)
		}
	}
}

// callAll returns the errors of all calls about an owner.
func callAll(t *testing.T, d directory, owner types.UID) []error {
	_, err := d.Volumes(t.Context(), owner)
	return []error{err, d.Create(t.Context(), owner, 1), d.Delete(t.Context(), owner, 0), d.DeleteAll(t.Context(), owner)}
}

func create(t *testing.T, d directory, owner types.UID, n int) {
	t.Helper()
	if err := d.Create(t.Context(), owner, n); err != nil {
		t.Fatal(err)
	}
}
