package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"example.com/byhand/api/examples-gzh.com/v1alpha1"
)

// sweepPeriod is the interval between sweeps. The first one is at the start.
const sweepPeriod = 10 * time.Minute

// sweep deletes orphans: volumes of Projects whose finalizer was removed by force. No object
// refers to them any more, and the program may have been off during the deletion.
//
// An existing Project must not lose its volumes. The order guarantees that: sweep first reads
// the folders, then the Projects. A folder is created only after its Project has the finalizer.
// So if the later list lacks a folder's Project, the Project is gone for good: its UID is never
// reused. This holds whichever process created the folder.
func (r *projectReconciler) sweep(ctx context.Context) error {
	owners, err := r.storage.Owners(ctx)
	if err != nil {
		return fmt.Errorf("look for orphans: %w", err)
	}
	exists := map[types.UID]bool{}
	isOwned := func(owner types.UID) bool { return exists[owner] }
	for _, stored := range r.projectStore.List() {
		exists[stored.(*v1alpha1.Project).UID] = true
	}
	if owners = slices.DeleteFunc(owners, isOwned); len(owners) == 0 {
		return nil
	}

	// A Project missing from the cache proves nothing: the cached list may be older than the
	// folder, and with --namespace it covers one namespace. So list the Projects of all
	// namespaces. Without a resourceVersion the response is current.
	list, err := r.projects.Projects(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err == nil && (list.ResourceVersion == "" || list.Continue != "") {
		err = errors.New("the response is not a complete list of Projects") // a client decodes any JSON
	}
	if err != nil {
		return fmt.Errorf("look for orphans: %w", err)
	}
	for _, project := range list.Items {
		exists[project.UID] = true
	}
	for _, owner := range slices.DeleteFunc(owners, isOwned) {
		if err := r.storage.DeleteAll(ctx, owner); err != nil {
			return fmt.Errorf("delete the volumes of the missing Project %s: %w", owner, err)
		}
		klog.FromContext(ctx).Info("Deleted the volumes of a missing Project", "uid", owner)
	}
	return nil
}
