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

// finalizer keeps a Project until its volumes are gone. The name begins with a domain:
// otherwise the API server warns, because two programs could mean the same word.
const finalizer = "examples-gzh.com/volumes"

// projectReconciler gives each Project its volumes, and takes them away before the Project
// goes. All fields but the last one must be set.
type projectReconciler struct {
	projects     clientset.ProjectsGetter
	projectStore cache.Store // the cache
	storage      storage
	maxVolumes   int // for each Project
	events       record.EventRecorder
	// writes holds the writes that the cache does not show yet.
	writes controller.PendingWrites
}

// Reconcile has the contract of controller.Reconcile.
func (r *projectReconciler) Reconcile(ctx context.Context, key cache.ObjectName) (requeueAfter time.Duration, err error) {
	if !r.writes.Observed(key) {
		return controller.CacheRetry, nil
	}
	stored, exists, err := r.projectStore.GetByKey(key.String())
	if err != nil || !exists {
		// A Project goes after its volumes. Unless a person removed the finalizer: see sweep.
		return 0, err
	}
	project := stored.(*v1alpha1.Project)
	if project.DeletionTimestamp != nil {
		return 0, r.release(ctx, project)
	}
	return 0, r.provide(ctx, project)
}

// provide makes the volumes of a Project what its spec asks for.
func (r *projectReconciler) provide(ctx context.Context, project *v1alpha1.Project) (err error) {
	// First the finalizer. The other way round, a Project that is deleted between the two
	// leaves volumes that no object names.
	if !slices.Contains(project.Finalizers, finalizer) {
		if project, err = r.addFinalizer(ctx, project); err != nil {
			return err
		}
	}
	replicas := int(project.Spec.Replicas)
	if replicas > r.maxVolumes {
		r.events.Eventf(project, corev1.EventTypeWarning, "TooManyVolumes", "spec.replicas is %d, and a Project may have %d volumes (--max-volumes): none is created or deleted", replicas, r.maxVolumes)
		return nil // The next spec adds the key again.
	}

	// What there is against what there should be.
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

// difference returns which volumes are to be created and which deleted.
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

// release deletes the volumes of a Project that is being deleted. Then it lets the Project
// go: the API server removes it with its last finalizer.
func (r *projectReconciler) release(ctx context.Context, project *v1alpha1.Project) error {
	if err := r.storage.DeleteAll(ctx, project.UID); err != nil {
		return r.failed(project, err)
	}
	i := slices.Index(project.Finalizers, finalizer)
	if i < 0 {
		return nil // It waits for the finalizers of others.
	}
	// Two operations on one place in the list: what others have in it stays. If they have
	// changed it meanwhile, so that another one is in that place, the test fails.
	place := fmt.Sprintf("/metadata/finalizers/%d", i)
	_, err := r.patch(ctx, project,
		operation{Op: "test", Path: "/metadata/uid", Value: project.UID},
		operation{Op: "test", Path: place, Value: finalizer},
		operation{Op: "remove", Path: place})
	return err
}

// addFinalizer returns the Project as the API server has it with the finalizer. The test
// makes sure that no other program has changed the list, and that the Project is not being deleted:
// then the API server takes no new finalizer.
func (r *projectReconciler) addFinalizer(ctx context.Context, project *v1alpha1.Project) (*v1alpha1.Project, error) {
	return r.patch(ctx, project,
		operation{Op: "test", Path: "/metadata/resourceVersion", Value: project.ResourceVersion},
		operation{Op: "add", Path: "/metadata/finalizers", Value: append(slices.Clone(project.Finalizers), finalizer)})
}

// operation is one of a JSON Patch (RFC 6902). They take effect together or not at all.
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
	// In every case the cache must show another version first: of a Project that goes with its
	// last finalizer there is no newer one.
	r.writes.AwaitChange(cache.MetaObjectToName(project), r.projectStore, project, err)
	if err != nil {
		return nil, fmt.Errorf("patch the finalizers of Project %s/%s: %w", project.Namespace, project.Name, err)
	}
	return patched, nil
}

// isFailedTest reports whether a JSON Patch was refused as a whole. That is 422, as for an
// invalid object, but without the fields that are invalid.
func isFailedTest(err error) bool {
	status := apierrors.APIStatus(nil)
	return apierrors.IsInvalid(err) && errors.As(err, &status) && (status.Status().Details == nil || len(status.Status().Details.Causes) == 0)
}

// conflict returns an error that says: the Project has changed, look again.
func conflict(project *v1alpha1.Project, err error) error {
	return apierrors.NewConflict(v1alpha1.Resource("projects"), project.Name, err)
}

// confirm asks the API server for the Project before volumes of a living one are deleted.
// The cache does not decide that alone:
//
//	1.0 s  A person sets replicas from 1 to 3. The program creates two volumes and stops.
//	2.0 s  It starts again. Its first list comes from an API server that is behind and
//	       still says 1.
//	2.1 s  Two volumes with data would be deleted, and created again, empty.
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

// failed says in an Event that the storage has failed, since a Project has no status that could, and
// returns the error: the worker tries again. client-go counts Events that say the same, and limits them.
func (r *projectReconciler) failed(project *v1alpha1.Project, err error) error {
	r.events.Event(project, corev1.EventTypeWarning, "VolumesFailed", err.Error())
	return fmt.Errorf("volumes of Project %s/%s: %w", project.Namespace, project.Name, err)
}
