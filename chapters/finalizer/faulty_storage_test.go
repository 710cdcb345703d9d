package main

import (
	"cmp"
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/types"
)

// faultyStorage is a storage with which a process may be killed, before and after each
// call that changes something. While err is set each call returns it.
type faultyStorage struct {
	storage
	step func() error
	err  error
	// afterOwners, if not nil, is called when the folders have been read.
	afterOwners func()
}

func (f *faultyStorage) do(call func() error) error {
	if f.err != nil {
		return f.err
	}
	if err := f.step(); err != nil {
		return err
	}
	return cmp.Or(call(), f.step())
}

func (f *faultyStorage) Owners(ctx context.Context) ([]types.UID, error) {
	owners, err := f.storage.Owners(ctx)
	if f.afterOwners != nil {
		f.afterOwners()
	}
	return owners, errors.Join(err, f.err)
}

func (f *faultyStorage) Volumes(ctx context.Context, owner types.UID) ([]int, error) {
	volumes, err := f.storage.Volumes(ctx, owner)
	return volumes, errors.Join(err, f.err)
}

func (f *faultyStorage) Create(ctx context.Context, owner types.UID, n int) error {
	return f.do(func() error { return f.storage.Create(ctx, owner, n) })
}

func (f *faultyStorage) Delete(ctx context.Context, owner types.UID, n int) error {
	return f.do(func() error { return f.storage.Delete(ctx, owner, n) })
}

func (f *faultyStorage) DeleteAll(ctx context.Context, owner types.UID) error {
	return f.do(func() error { return f.storage.DeleteAll(ctx, owner) })
}
