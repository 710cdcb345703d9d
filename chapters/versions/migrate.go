package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/wait"

	"example.com/byhand/chapters/restaurant/v1alpha1"
)

// pageSize is how many Pizzas are read at once.
const pageSize = "500"

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
		_, err = a.warn(ctx, now, "") // What an earlier migration has left.
		return err
	}

	// Not before the API server writes what the definition says.
	if now, err = a.seen(ctx, now); err != nil {
		return fmt.Errorf("wait until the API server stores %s: %w", storage, err)
	}
	// A write that began before that is stored in the old version when it ends.
	story.Printf("waiting for writes that began before the switch: %v", a.drain)
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(a.drain):
	}
	all, err := a.list(ctx, storage)
	if err != nil {
		return fmt.Errorf("list Pizzas: %w", err)
	}
	for _, pizza := range all {
		if err := a.rewrite(ctx, storage, pizza); err != nil {
			return fmt.Errorf("write Pizza %s/%s: %w", pizza.Namespace, pizza.Name, err)
		}
		story.Printf("written as %s: Pizza %s/%s", storage, pizza.Namespace, pizza.Name)
	}

	// What was created meanwhile is stored in the storage version. Unless another client has
	// changed that: then the resourceVersion is another one, and this is refused.
	if now, err = a.warn(ctx, now, ""); err == nil {
		err = a.edit(ctx, "status", []operation{
			{"replace", "/metadata/resourceVersion", now.Metadata.ResourceVersion},
			{"replace", "/status/storedVersions", []string{storage}},
		}, &now)
	}
	if apierrors.IsConflict(err) {
		return fmt.Errorf("the definition has changed during the migration: migrate again (%w)", err)
	}
	if err != nil {
		return fmt.Errorf("write status.storedVersions: %w", err)
	}
	story.Printf("status.storedVersions is %q", now.Status.StoredVersions)
	return nil
}

// seen returns when the API server acts by the definition as it is now. It reads definitions
// from a watch, some milliseconds late, and what it has read last decides in which version it
// writes a Pizza. No answer says which version that is. But the deprecation warning comes from
// the same object in its memory (crdInfo, in customresource_handler.go), and is in each answer:
// one that has a new warning has everything that was written before it.
func (a *api) seen(ctx context.Context, now definition) (definition, error) {
	storage := now.storage()
	text := fmt.Sprintf("Pizzas are being migrated to %s, since %s", storage, now.Metadata.ResourceVersion)
	warned, err := a.warn(ctx, now, text)
	if err != nil {
		return now, err
	}
	return warned, wait.PollUntilContextTimeout(ctx, period, patience, true, func(ctx context.Context) (bool, error) {
		answer := a.rest.Get().AbsPath(pizzas(storage)).Param("limit", "1").Do(ctx)
		return slices.ContainsFunc(answer.Warnings(), func(w net.WarningHeader) bool { return w.Text == text }), nil
	})
}

// warn gives the storage version a deprecation warning, which clients get with each answer, and
// removes any other, or all if text is empty. After an error it stays until this program migrates
// again. It is refused with Conflict if the definition is not as it was read.
func (a *api) warn(ctx context.Context, now definition, text string) (changed definition, err error) {
	operations := []operation{{"replace", "/metadata/resourceVersion", now.Metadata.ResourceVersion}}
	for i, version := range now.Spec.Versions {
		deprecated, warning := version.Storage && text != "", any(json.RawMessage("null"))
		if deprecated {
			warning = text
		}
		path := fmt.Sprintf("/spec/versions/%d/", i)
		operations = append(operations, operation{"add", path + "deprecated", deprecated}, operation{"add", path + "deprecationWarning", warning})
	}
	err = a.edit(ctx, "", operations, &changed)
	return changed, err
}

// list reads the names of all Pizzas, page by page, in the order of etcd: pages that do not go on
// in it would never end. After some minutes the API server does not know any more where the next
// page begins (410): then migrate again.
func (a *api) list(ctx context.Context, version string) (all []metav1.PartialObjectMetadata, err error) {
	for last, token := "", ""; ; {
		page := metav1.PartialObjectMetadataList{}
		request := a.rest.Get().AbsPath(pizzas(version)).Param("limit", pageSize).Param("continue", token)
		if err := send(ctx, request, "PizzaList", &page); err != nil {
			return nil, err
		}
		for _, pizza := range page.Items {
			key := pizza.Namespace + "/" + pizza.Name
			if key <= last {
				return nil, fmt.Errorf("the list has no order: %.320q comes after %.320q", key, last)
			}
			last = key
		}
		all, token = append(all, page.Items...), page.Continue
		switch {
		case page.Items == nil: // Of a custom resource there are at least [].
			return nil, errors.New("the list has no items, not even none")
		case token == "":
			return all, nil
		case len(page.Items) == 0:
			return nil, errors.New("a page without a Pizza says that there are more")
		}
	}
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
