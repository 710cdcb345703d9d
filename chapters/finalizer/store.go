package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strconv"

	"k8s.io/apimachinery/pkg/types"
)

// storage is a system outside the cluster that holds volumes. An owner is a Project's UID:
// unlike a name, it is never reused.
//
// The program may be killed in any call, and then repeats the call. So creating an existing
// volume and deleting a missing one are not errors.
type storage interface {
	// Owners returns the owners that may have volumes.
	Owners(ctx context.Context) ([]types.UID, error)
	// Volumes returns the numbers of an owner's volumes, empty if the owner is unknown.
	Volumes(ctx context.Context, owner types.UID) ([]int, error)
	Create(ctx context.Context, owner types.UID, n int) error
	Delete(ctx context.Context, owner types.UID, n int) error
	// DeleteAll deletes an owner's volumes and the owner.
	DeleteAll(ctx context.Context, owner types.UID) error
}

// directory is a storage in a directory tree: volume 2 of an owner is directory/UID/2.
//
// No symlink leads out of the tree: os.Root checks each part of a path.
type directory string

// newDirectory returns a directory, which it creates if missing.
func newDirectory(name string) (directory, error) {
	if err := os.MkdirAll(name, 0o700); err != nil {
		return "", fmt.Errorf("--store: %w", err)
	}
	return directory(name), nil
}

// isUID matches UIDs as the API server generates them. Everything else in the directory is ignored.
var isUID = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`).MatchString

func (d directory) Owners(context.Context) (owners []types.UID, err error) {
	err = d.open(func(root *os.Root) error {
		entries, err := fs.ReadDir(root.FS(), ".")
		for _, entry := range entries {
			if entry.IsDir() && isUID(entry.Name()) {
				owners = append(owners, types.UID(entry.Name()))
			}
		}
		return err
	})
	return owners, err
}

func (d directory) Volumes(_ context.Context, owner types.UID) (numbers []int, err error) {
	err = d.of(owner, func(root *os.Root) error {
		entries, err := fs.ReadDir(root.FS(), string(owner))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		for _, entry := range entries {
			n, notNumber := strconv.Atoi(entry.Name())
			if entry.IsDir() && notNumber == nil && entry.Name() == strconv.Itoa(n) {
				numbers = append(numbers, n)
			}
		}
		return err
	})
	return numbers, err
}

func (d directory) Create(_ context.Context, owner types.UID, n int) error {
	return d.of(owner, func(root *os.Root) error { return root.MkdirAll(volume(owner, n), 0o700) })
}

func (d directory) Delete(_ context.Context, owner types.UID, n int) error {
	return d.of(owner, func(root *os.Root) error { return root.RemoveAll(volume(owner, n)) })
}

func (d directory) DeleteAll(_ context.Context, owner types.UID) error {
	return d.of(owner, func(root *os.Root) error { return root.RemoveAll(string(owner)) })
}

// of opens the directory for a call about one owner. It rejects an owner that is not a UID, but perhaps a path.
func (d directory) of(owner types.UID, do func(root *os.Root) error) error {
	if !isUID(string(owner)) {
		return fmt.Errorf("the owner %q is not a UID", owner)
	}
	return d.open(do)
}

// open opens the directory for one call. If it stayed open, calls would still reach the old
// directory after another file system is mounted over it.
func (d directory) open(do func(root *os.Root) error) error {
	root, err := os.OpenRoot(string(d))
	if err != nil {
		return err
	}
	defer root.Close()
	return do(root)
}

func volume(owner types.UID, n int) string { return path.Join(string(owner), strconv.Itoa(n)) }
