package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// Every call may be made again. A volume that holds something goes with it.
func TestDirectoryTwice(t *testing.T) {
	d, ctx := directory(t.TempDir()), t.Context()
	for _, call := range []struct {
		name string
		do   func() error
		want []int
	}{
		{"create 0", func() error { return d.Create(ctx, uid(1), 0) }, []int{0}},
		{"create 10", func() error { return d.Create(ctx, uid(1), 10) }, []int{0, 10}},
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

// A symlink in the tree is not followed: not out of it, and not to another owner. What is
// behind it stays as it is.
func TestSymlinks(t *testing.T) {
	for _, test := range []struct {
		reason     string
		link       string // where it is
		to         string // what it leads to
		wantVolume error  // of Volumes
		wantCreate error
	}{
		{"a folder that leads out", string(uid(1)), "../outside", syscall.ENOTDIR, syscall.ENOTDIR},
		{"a folder that leads to another owner", string(uid(1)), string(uid(2)), syscall.ENOTDIR, syscall.ENOTDIR},
		{"a volume that leads out", string(uid(1)) + "/0", "../../outside", nil, syscall.ENOTDIR},
		{"a volume that leads to another owner", string(uid(1)) + "/0", "../" + string(uid(2)), nil, syscall.ENOTDIR},
		{"a volume that leads nowhere", string(uid(1)) + "/0", "nowhere", nil, syscall.ENOTDIR},
	} {
		t.Run(test.reason, func(t *testing.T) {
			parent, ctx := t.TempDir(), t.Context()
			d, outside := directory(filepath.Join(parent, "store")), filepath.Join(parent, "outside")
			for _, dir := range []string{string(d), outside, filepath.Join(outside, "0")} {
				if err := os.Mkdir(dir, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			create(t, d, uid(2), 0, 1)
			link := filepath.Join(string(d), test.link)
			if err := errors.Join(os.MkdirAll(filepath.Dir(link), 0o700), os.Symlink(test.to, link)); err != nil {
				t.Fatal(err)
			}

			volumes, err := d.Volumes(ctx, uid(1))
			if len(volumes) > 0 || !errors.Is(err, test.wantVolume) {
				t.Errorf("the volumes are %v (%v), want none and %v", volumes, err, test.wantVolume)
			}
			if err := d.Create(ctx, uid(1), 0); !errors.Is(err, test.wantCreate) {
				t.Errorf("create: %v, want %v", err, test.wantCreate)
			}
			_ = d.Delete(ctx, uid(1), 0)
			if err := d.DeleteAll(ctx, uid(1)); err != nil {
				t.Errorf("delete all: %v", err)
			}
			if _, err := os.Lstat(link); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the link itself: %v, want none", err)
			}
			if entries, err := os.ReadDir(outside); err != nil || len(entries) != 1 {
				t.Errorf("outside there is %v (%v), want one directory", entries, err)
			}
			if volumes, err := d.Volumes(ctx, uid(2)); err != nil || !slices.Equal(volumes, []int{0, 1}) {
				t.Errorf("the other owner has %v (%v), want both volumes", volumes, err)
			}
		})
	}
}

// An owner that is no UID, as a server may claim, is a path to the volumes of others.
func TestNoUID(t *testing.T) {
	d, ctx := directory(t.TempDir()), t.Context()
	if err := d.Create(ctx, uid(1), 0); err != nil {
		t.Fatal(err)
	}
	for _, owner := range []types.UID{"", ".", "..", "a/..", uid(1) + "/.."} {
		_, err := d.Volumes(ctx, owner)
		for what, err := range map[string]error{"volumes": err, "create": d.Create(ctx, owner, 1), "delete": d.Delete(ctx, owner, 0), "delete all": d.DeleteAll(ctx, owner)} {
			if err == nil {
				t.Errorf("%q: %s is no error", owner, what)
			}
		}
	}
	if got, err := d.Volumes(ctx, uid(1)); err != nil || !slices.Equal(got, []int{0}) {
		t.Errorf("the volumes of the other owner are %v (%v)", got, err)
	}
}

// What people put into an owner's folder is no volume, and a file in a volume's place is
// no volume either.
func TestForeignNames(t *testing.T) {
	d, ctx := directory(t.TempDir()), t.Context()
	create(t, d, uid(1), 3)
	for _, name := range []string{"notes", "007", "+5", "1.5"} {
		if err := os.Mkdir(filepath.Join(string(d), string(uid(1)), name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(string(d), string(uid(1)), "0"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if volumes, err := d.Volumes(ctx, uid(1)); err != nil || !slices.Equal(volumes, []int{3}) {
		t.Errorf("the volumes are %v (%v), want 3", volumes, err)
	}
	if err := d.Create(ctx, uid(1), 0); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("create: %v, want %v", err, syscall.ENOTDIR)
	}
}

// A store that is gone is an error, not an empty store: otherwise its volumes would be
// taken for deleted.
func TestDirectoryIsGone(t *testing.T) {
	d, ctx := directory(filepath.Join(t.TempDir(), "gone")), t.Context()
	_, err := d.Volumes(ctx, uid(1))
	_, err2 := d.Owners(ctx)
	for _, err := range []error{err, err2, d.Create(ctx, uid(1), 0), d.Delete(ctx, uid(1), 0), d.DeleteAll(ctx, uid(1))} {
		if !errors.Is(err, os.ErrNotExist) {
			t.Errorf("error %v, want %v", err, os.ErrNotExist)
		}
	}
}

func create(t *testing.T, d directory, owner types.UID, numbers ...int) {
	t.Helper()
	for _, n := range numbers {
		if err := d.Create(t.Context(), owner, n); err != nil {
			t.Fatal(err)
		}
	}
}
