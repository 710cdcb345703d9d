package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/byhand/chapters/restaurant/v1alpha1"
)

// lacks says what the API server does not have of what README.md shows, and what to do instead.
// The program itself does not need it.
func (a *api) lacks(ctx context.Context) string {
	if err := a.rest.Get().AbsPath("/apis/storagemigration.k8s.io/v1").Do(ctx).Error(); apierrors.IsNotFound(err) {
		return "this API server has no StorageVersionMigration v1, which is there by default since Kubernetes 1.37: migrate by hand, with `bin/versions migrate`"
	}
	return ""
}

// migrate makes every Pizza stored in the storage version, and then says so in the
// definition. It does by hand what a StorageVersionMigration asks the API server's own
// controller for. The webhook must run: what is stored in the other version is converted.
func (a *api) migrate(ctx context.Context, story *log.Logger) error {
	now, err := a.definition(ctx)
	if err != nil {
		return err
	}
	storage := now.storage()
	if slices.Equal(now.Status.StoredVersions, []string{storage}) {
		story.Printf("every Pizza is stored as %s already", storage)
		return nil
	}

	// The API server reads definitions from a watch, some milliseconds late. What it has read last decides in
	// which version it writes a Pizza, and a write that began before is stored in the old version when it ends.
	story.Printf("waiting for writes that began before the switch: %v", a.drain)
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(a.drain):
	}
	before := now.Metadata.Generation
	if now, err = a.definition(ctx); err != nil {
		return err
	}
	if now.Metadata.Generation != before {
		return errors.New("the definition has changed before the migration: migrate again")
	}
	all := metav1.PartialObjectMetadataList{}
	if err := send(ctx, a.rest.Get().AbsPath(pizzas(storage)), "PizzaList", &all); err != nil {
		return fmt.Errorf("list Pizzas: %w", err)
	}
	for _, pizza := range all.Items {
		if err := a.rewrite(ctx, storage, pizza); err != nil {
			return fmt.Errorf("write Pizza %s/%s: %w", pizza.Namespace, pizza.Name, err)
		}
		story.Printf("written as %s: Pizza %s/%s", storage, pizza.Namespace, pizza.Name)
	}

	// What was created meanwhile is stored in the storage version. Unless another client has
	// changed that: then the resourceVersion is another one, and this is refused.
	err = a.edit(ctx, "status", []operation{
		{"replace", "/metadata/resourceVersion", now.Metadata.ResourceVersion},
		{"replace", "/status/storedVersions", []string{storage}},
	}, &now)
	if apierrors.IsConflict(err) {
		return fmt.Errorf("the definition has changed during the migration: migrate again (%w)", err)
	}
	if err != nil {
		return fmt.Errorf("write status.storedVersions: %w", err)
	}
	story.Printf("status.storedVersions is %q", now.Status.StoredVersions)
	return nil
}

// rewrite sends a patch that changes nothing. The API server encodes the object in the
// storage version and compares the bytes with those in etcd: if they differ, by the
// apiVersion, it writes them. If others write it meanwhile, the patch is made again, by the
// API server: there is nothing in it that could be out of date. One that is gone needs
// nothing.
func (a *api) rewrite(ctx context.Context, version string, pizza metav1.PartialObjectMetadata) error {
	request := a.rest.Patch(types.MergePatchType).AbsPath("/apis", v1alpha1.GroupName, version).
		Namespace(pizza.Namespace).Resource("pizzas").Name(pizza.Name).Body([]byte("{}"))
	err := send(ctx, request, "Pizza", &pizza)
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
