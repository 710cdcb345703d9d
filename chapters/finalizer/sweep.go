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

// sweepPeriod is how often orphans are looked for, besides at the start.
const sweepPeriod = 10 * time.Minute

// sweep deletes orphans: the volumes of Projects that are gone, because a person removed
// the finalizer by force. Nothing else tells of them: there is no object any more, and
// perhaps no event, if the program was off.
//
// A Project that exists must not lose its volumes. The order sees to that: first the
// folders are read, then the Projects. A folder is made only after its Project has the
// finalizer. So the Project of a folder that was read is in each list that begins later,
// whichever process made the folder, or it is gone for ever: no other gets its UID.
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

	// That the cache does not have a Project proves nothing: its list may be older than the
	// folder, and with --namespace it has one namespace. So ask for the Projects of all.
	// Without a resourceVersion the answer is the newest.
	list, err := r.projects.Projects(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err == nil && (list.ResourceVersion == "" || list.Continue != "") {
		err = errors.New("the answer is no list of Projects, or a part of one") // A client decodes anything.
	}
	if err != nil {
		return fmt.Errorf("look for orphans: %w", err)
	}
	for _, project := range list.Items {
		exists[project.UID] = true
	}
	for _, owner := range slices.DeleteFunc(owners, isOwned) {
		if err := r.storage.DeleteAll(ctx, owner); err != nil {
			return fmt.Errorf("delete the volumes of Project %s, which is gone: %w", owner, err)
		}
		klog.FromContext(ctx).Info("Deleted the volumes of a Project that is gone", "uid", owner)
	}
	return nil
}
