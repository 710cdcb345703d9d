package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/byhand/chapters/restaurant/v1alpha1"
)

// pageSize is how many Pizzas are read at once.
const pageSize = "500"

// migrate makes every Pizza stored in the storage version, and then says so in the
// definition. It does by hand what a StorageVersionMigration asks the API server's own
// controller for. The webhook must run: what is stored in the other version is converted.
func (a *api) migrate(ctx context.Context, story *log.Logger) error {
	before, err := a.definition(ctx)
	if err != nil {
		return err
	}
	storage := before.storage()
	if slices.Equal(before.Status.StoredVersions, []string{storage}) {
		story.Printf("every Pizza is stored as %s already", storage)
		return nil
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

	// What is created meanwhile is stored in the storage version, too. Unless somebody has
	// changed that: then the resourceVersion is another one, and this is refused.
	body, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": before.Metadata.ResourceVersion},
		"status":   map[string]any{"storedVersions": []string{storage}},
	})
	if err != nil {
		return err
	}
	err = send(ctx, a.rest.Patch(types.MergePatchType).AbsPath(definitionPath, "status").Body(body), &before)
	if apierrors.IsConflict(err) {
		return fmt.Errorf("somebody has changed the definition during the migration: migrate again (%w)", err)
	}
	if err != nil {
		return fmt.Errorf("write status.storedVersions: %w", err)
	}
	story.Printf("status.storedVersions is %q", before.Status.StoredVersions)
	return nil
}

// list reads the names of all Pizzas, page by page. After some minutes the API server does
// not know any more where the next page begins (410): then migrate again.
func (a *api) list(ctx context.Context, version string) (all []metav1.PartialObjectMetadata, err error) {
	for token := ""; ; {
		page := metav1.PartialObjectMetadataList{}
		request := a.rest.Get().AbsPath(pizzas(version)).Param("limit", pageSize).Param("continue", token)
		if err := send(ctx, request, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Items...)
		if token = page.Continue; token == "" {
			return all, nil
		}
	}
}

// rewrite sends a patch that changes nothing. The API server encodes the object in the
// storage version and compares the bytes with those in etcd: if they differ, by the
// apiVersion, it writes them. If others write it meanwhile, the patch is made again, by the
// API server: there is nothing in it that could be out of date. One that is gone needs
// nothing.
func (a *api) rewrite(ctx context.Context, version string, pizza metav1.PartialObjectMetadata) error {
	path := fmt.Sprintf("/apis/%s/%s/namespaces/%s/pizzas/%s", v1alpha1.GroupName, version, pizza.Namespace, pizza.Name)
	err := a.rest.Patch(types.MergePatchType).AbsPath(path).Body([]byte("{}")).Do(ctx).Error()
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
