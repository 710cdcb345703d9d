package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"example.com/byhand/api/examples-gzh.com/v1alpha1"
	"example.com/byhand/clientset"
	"example.com/byhand/controller"
)

// finalizer keeps a Project until its volumes are deleted. The name begins with a domain:
// otherwise the API server warns, because two programs could use the same word.
const finalizer = "examples-gzh.com/volumes"

// projectReconciler gives each Project its volumes, and deletes them before the Project
// disappears. All fields but the last one must be set.
type projectReconciler struct {
	projects     clientset.ProjectsGetter
	projectStore cache.Store // the cache
	storage      storage
	maxVolumes   int // per Project
	events       record.EventRecorder
	// writes holds the writes that the cache does not show yet.
	writes controller.PendingWrites
}

// Reconcile implements controller.Reconcile.
func (r *projectReconciler) Reconcile(ctx context.Context, key cache.ObjectName) (requeueAfter time.Duration, err error) {
	if !r.writes.Observed(key) {
		return controller.CacheRetry, nil
	}
	stored, exists, err := r.projectStore.GetByKey(key.String())
	if err != nil || !exists {
		// Its volumes were deleted first, unless the finalizer was removed by force: see sweep.
		return 0, err
	}
	project := stored.(*v1alpha1.Project)
	if project.DeletionTimestamp != nil {
		return 0, r.release(ctx, project)
	}
	return 0, r.provide(ctx, project)
}

func (r *projectReconciler) provide(ctx context.Context, project *v1alpha1.Project) (err error) {
	// The finalizer comes first. Otherwise a Project deleted between the two steps leaves
	// volumes that no object refers to.
	if !slices.Contains(project.Finalizers, finalizer) {
		if project, err = r.addFinalizer(ctx, project); err != nil {
			return err
		}
	}
	replicas := int(project.Spec.Replicas)
	if replicas > r.maxVolumes {
		r.events.Eventf(project, corev1.EventTypeWarning, "TooManyVolumes", "spec.replicas is %d, but a Project may have at most %d volumes (--max-volumes): no volume is created or deleted", replicas, r.maxVolumes)
		return nil // the next change of the spec enqueues the key
	}

	// Compare the actual with the desired state.
	volumes, err := r.storage.Volumes(ctx, project.UID)
	if err != nil {
		return r.failed(project, err)
	}
	missing, surplus := difference(volumes, replicas)
	if len(surplus) > 0 {
		if err := r.confirm(ctx, project); err != nil {
			return err
		}
	}
	for _, n := range surplus {
		if err := r.storage.Delete(ctx, project.UID, n); err != nil {
			return r.failed(project, err)
		}
	}
	for _, n := range missing {
		if err := r.storage.Create(ctx, project.UID, n); err != nil {
			return r.failed(project, err)
		}
	}
	if len(missing)+len(surplus) > 0 {
		r.events.Eventf(project, corev1.EventTypeNormal, "VolumesReady", "%d volumes: %d created, %d deleted", replicas, len(missing), len(surplus))
	}
	return nil
}

func difference(volumes []int, replicas int) (missing, surplus []int) {
	there := sets.New(volumes...)
	for n := range replicas {
		if !there.Has(n) {
			missing = append(missing, n)
		}
	}
	for _, n := range volumes {
		if n >= replicas {
			surplus = append(surplus, n)
		}
	}
	return missing, surplus
}

// release deletes the volumes of a Project that is being deleted, then removes the
// finalizer. The API server removes the Project with its last finalizer.
func (r *projectReconciler) release(ctx context.Context, project *v1alpha1.Project) error {
	if err := r.storage.DeleteAll(ctx, project.UID); err != nil {
		return r.failed(project, err)
	}
	i := slices.Index(project.Finalizers, finalizer)
	if i < 0 {
		return nil // other finalizers are left
	}
	// Test and remove the same index, so other finalizers stay. If the list has changed and
	// the index holds a different finalizer, the test fails.
	place := fmt.Sprintf("/metadata/finalizers/%d", i)
	_, err := r.patch(ctx, project,
		operation{Op: "test", Path: "/metadata/uid", Value: project.UID},
		operation{Op: "test", Path: place, Value: finalizer},
		operation{Op: "remove", Path: place})
	return err
}

// addFinalizer returns the live Project with the finalizer. The test fails if the live Project
// has changed, for example because it is being deleted: then no finalizer can be added.
func (r *projectReconciler) addFinalizer(ctx context.Context, project *v1alpha1.Project) (*v1alpha1.Project, error) {
	return r.patch(ctx, project,
		operation{Op: "test", Path: "/metadata/resourceVersion", Value: project.ResourceVersion},
		operation{Op: "add", Path: "/metadata/finalizers", Value: append(slices.Clone(project.Finalizers), finalizer)})
}

// operation is a step of a JSON Patch (RFC 6902). All steps take effect, or none.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// patch sends a JSON Patch. If a test in it fails, the error is a Conflict.
func (r *projectReconciler) patch(ctx context.Context, project *v1alpha1.Project, operations ...operation) (*v1alpha1.Project, error) {
	body, err := json.Marshal(operations)
	if err != nil {
		return nil, err
	}
	patched, err := r.projects.Projects(project.Namespace).Patch(ctx, project.Name, types.JSONPatchType, body, metav1.PatchOptions{})
	if isFailedTest(err) {
		err = conflict(project, err)
	}
	// Wait until the cache no longer shows the old version: a Project that disappears with its
	// last finalizer has no newer one.
	r.writes.AwaitChange(cache.MetaObjectToName(project), r.projectStore, project, err)
	if err != nil {
		return nil, fmt.Errorf("patch the finalizers of Project %s/%s: %w", project.Namespace, project.Name, err)
	}
	return patched, nil
}

// isFailedTest reports whether a test of a JSON Patch failed. The code is 422, as for an
// invalid object, but the response lists no invalid fields.
func isFailedTest(err error) bool {
	status := apierrors.APIStatus(nil)
	return apierrors.IsInvalid(err) && errors.As(err, &status) && (status.Status().Details == nil || len(status.Status().Details.Causes) == 0)
}

// conflict returns a Conflict: the Project has changed, reconcile again.
func conflict(project *v1alpha1.Project, err error) error {
	return apierrors.NewConflict(v1alpha1.Resource("projects"), project.Name, err)
}

// confirm reads the live Project before surplus volumes of an existing Project are deleted. The
// cache alone must not decide:
//
//	1.0 s  A user sets replicas from 1 to 3. The program creates two volumes and stops.
//	2.0 s  It starts again. Its first list comes from an API server whose cache is stale
//	       and still shows 1.
//	2.1 s  Two volumes with data would be deleted, and recreated empty.
func (r *projectReconciler) confirm(ctx context.Context, project *v1alpha1.Project) error {
	live, err := r.projects.Projects(project.Namespace).Get(ctx, project.Name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("get Project %s/%s: %w", project.Namespace, project.Name, err)
	}
	if live.UID != project.UID || live.Spec != project.Spec {
		return conflict(project, errors.New("the cache is behind the API server"))
	}
	return nil
}

// failed reports a failure of the storage in an Event, since a Project has no status, and returns
// the error so that the worker retries. client-go aggregates and limits equal Events.
func (r *projectReconciler) failed(project *v1alpha1.Project, err error) error {
	r.events.Event(project, corev1.EventTypeWarning, "VolumesFailed", err.Error())
	return fmt.Errorf("volumes of Project %s/%s: %w", project.Namespace, project.Name, err)
}
