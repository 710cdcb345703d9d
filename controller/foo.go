package controller

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsv1client "k8s.io/client-go/kubernetes/typed/apps/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/clientset"
	"example.com/byhand/informer"
)

// The reasons of the events that a Foo gets; a warning has the reason of the
// condition. An event marks a transition: a state that goes on says nothing.
const (
	EventCreated = "Created"
	EventScaled  = "Scaled"
	EventUpdated = "Updated"
	EventDeleted = "Deleted"
)

// FooReconciler gives each Foo its Deployment. All fields must be set.
type FooReconciler struct {
	// Foos and Deployments are the clients that it writes through.
	Foos        clientset.FoosGetter
	Deployments appsv1client.DeploymentsGetter
	// FooStore and DeploymentStore are what it reads: the informers' stores.
	FooStore, DeploymentStore cache.Indexer
	// Events tells people what was done.
	Events record.EventRecorder

	own ownWrites
}

// Reconcile brings the Foo with this key one step closer to its spec. It has the
// contract of the type Reconcile.
func (r *FooReconciler) Reconcile(ctx context.Context, key cache.ObjectName) (again time.Duration, err error) {
	// Before the stores are read, so that what is read is not older.
	if !r.own.shown(key, r.FooStore, r.DeploymentStore) {
		// They do not show yet what this process wrote.
		return lookAgain, nil
	}
	foo, ok := get[*v1alpha1.Foo](r.FooStore, key)
	if !ok {
		// Deleted. Its Deployment has an owner reference to it and goes with it.
		return 0, nil
	}
	if foo.DeletionTimestamp != nil {
		// Being deleted. To create anything now would fight the garbage collector.
		return 0, nil
	}
	name := cache.NewObjectName(foo.Namespace, foo.Spec.DeploymentName)
	deployment, found := get[*appsv1.Deployment](r.DeploymentStore, name)
	owned := informer.DeploymentsOf(r.DeploymentStore, foo.UID)
	if problem := problemOf(foo); problem != "" {
		// No retry mends a spec. The event of the next spec wakes this key.
		return 0, r.updateStatus(ctx, key, foo, invalidStatus(foo, problem))
	}
	if stale, err := r.deploymentIsStale(ctx, key, foo, deployment); stale || err != nil {
		// Not yet the Deployment that another process saw before this one took over.
		return lookAgain, r.refused(ctx, key, foo, err)
	}
	if found {
		switch owner(deployment, foo) {
		case foreign:
			// Never touch what is not ours. The event that frees the name wakes this key.
			// Until then the Foo keeps the last Deployment that it had, and no other.
			if again, err := r.deleteOthers(ctx, key, foo, allButLast(owned)); again > 0 || err != nil {
				return again, r.refused(ctx, key, foo, err)
			}
			return 0, r.updateStatus(ctx, key, foo, takenStatus(foo, deployment))
		case leaving:
			// The name is free when it is gone, and its deletion wakes this key.
			return 0, r.updateStatus(ctx, key, foo, waitingStatus(foo, deployment))
		}
	}

	// From here on Deployments are written.
	if stale, err := r.fooIsStale(ctx, key, foo, owned); stale || err != nil {
		// Not yet the Foo that another process saw before this one took over.
		return lookAgain, r.refused(ctx, key, foo, err)
	}
	if found {
		deployment, err = r.update(ctx, key, foo, deployment)
	} else {
		deployment, err = r.create(ctx, key, foo)
	}
	switch {
	case err != nil:
		return 0, r.refused(ctx, key, foo, err)
	case deployment == nil:
		// There is one already. What it is gets decided when the store has it.
		return lookAgain, nil
	}
	// The new Deployment stands, so the ones of earlier names may go.
	if again, err := r.deleteOthers(ctx, key, foo, owned); again > 0 || err != nil {
		return again, r.refused(ctx, key, foo, err)
	}
	return 0, r.updateStatus(ctx, key, foo, statusOf(foo, deployment))
}

// create makes the Foo's Deployment. It returns nil and no error if there is one
// that the store does not show yet.
func (r *FooReconciler) create(ctx context.Context, key cache.ObjectName, foo *v1alpha1.Foo) (*appsv1.Deployment, error) {
	deployments := r.Deployments.Deployments(foo.Namespace)
	created, err := deployments.Create(ctx, newDeployment(foo), metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		var live *appsv1.Deployment
		if live, err = deployments.Get(ctx, foo.Spec.DeploymentName, metav1.GetOptions{}); err == nil {
			r.own.of(key).deployment = live.ResourceVersion
			return nil, nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("create Deployment %s/%s: %w", foo.Namespace, foo.Spec.DeploymentName, err)
	}
	r.own.of(key).deployment = created.ResourceVersion
	r.Events.Eventf(foo, corev1.EventTypeNormal, EventCreated, "Created Deployment %s", created.Name)
	return created, nil
}

// update makes the Deployment what the Foo asks for and returns it, written or
// not.
func (r *FooReconciler) update(ctx context.Context, key cache.ObjectName, foo *v1alpha1.Foo, deployment *appsv1.Deployment) (*appsv1.Deployment, error) {
	wanted := changed(deployment, foo)
	if wanted == nil {
		return deployment, nil
	}
	updated, err := r.Deployments.Deployments(foo.Namespace).Update(ctx, wanted, metav1.UpdateOptions{})
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		r.own.of(key).refusedDeployment = deployment.ResourceVersion
	}
	if err != nil {
		return nil, fmt.Errorf("update Deployment %s/%s: %w", foo.Namespace, deployment.Name, err)
	}
	r.own.of(key).deployment = updated.ResourceVersion
	if before, after := deployment.Spec.Replicas, updated.Spec.Replicas; before != nil && after != nil && *before != *after {
		r.Events.Eventf(foo, corev1.EventTypeNormal, EventScaled, "Scaled Deployment %s from %d to %d", updated.Name, *before, *after)
	} else {
		r.Events.Eventf(foo, corev1.EventTypeNormal, EventUpdated, "Updated Deployment %s", updated.Name)
	}
	return updated, nil
}

// deleteOthers deletes the Deployments that this Foo controls under a name that
// its spec no longer has. again > 0 says that the store of Foos is behind.
func (r *FooReconciler) deleteOthers(ctx context.Context, key cache.ObjectName, foo *v1alpha1.Foo, owned []*appsv1.Deployment) (again time.Duration, err error) {
	for _, other := range owned {
		if other.Namespace != foo.Namespace || other.Name == foo.Spec.DeploymentName || other.DeletionTimestamp != nil {
			continue
		}
		// A store that is behind may show the name before last, and other may be the
		// right one. A delete cannot be taken back: ask the server first.
		if stale, err := r.isStale(ctx, key, foo); stale || err != nil {
			return lookAgain, err
		}
		// This very object, as it is in the store: not one that takes its name in
		// between, nor one that somebody takes from us. Its Pods follow it.
		err = r.Deployments.Deployments(foo.Namespace).Delete(ctx, other.Name, metav1.DeleteOptions{
			Preconditions:     &metav1.Preconditions{UID: &other.UID, ResourceVersion: &other.ResourceVersion},
			PropagationPolicy: new(metav1.DeletePropagationBackground),
		})
		if apierrors.IsConflict(err) {
			r.own.of(key).refusedDeployment = other.ResourceVersion
		}
		if err != nil && !apierrors.IsNotFound(err) {
			return 0, fmt.Errorf("delete Deployment %s/%s: %w", foo.Namespace, other.Name, err)
		}
		r.own.of(key).deleted[cache.MetaObjectToName(other)] = other.UID
		if err == nil {
			r.Events.Eventf(foo, corev1.EventTypeNormal, EventDeleted, "Deleted Deployment %s, the name is now %s", other.Name, foo.Spec.DeploymentName)
		}
	}
	return 0, nil
}

// refused decides what an error of the API server, or nil, means for a Foo. It
// returns the error that is to be retried, or nil.
func (r *FooReconciler) refused(ctx context.Context, key cache.ObjectName, foo *v1alpha1.Foo, err error) error {
	switch {
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		// The whole namespace is being deleted, this Foo with it.
		return nil
	case apierrors.IsInvalid(err):
		// No retry mends a spec.
		return r.updateStatus(ctx, key, foo, invalidStatus(foo, refusal(err)))
	case apierrors.IsForbidden(err):
		// A quota, a policy, a missing right: a person must act, and no event tells
		// when. Say so once and go on trying.
		return errors.Join(err, r.updateStatus(ctx, key, foo, forbiddenStatus(foo, err)))
	default:
		return err
	}
}

// updateStatus writes the status if it differs from the one that the Foo has.
func (r *FooReconciler) updateStatus(ctx context.Context, key cache.ObjectName, foo *v1alpha1.Foo, status v1alpha1.FooStatus) error {
	if equality.Semantic.DeepEqual(foo.Status, status) {
		return nil
	}
	// foo is the store's: never change it, change a copy.
	copied := foo.DeepCopy()
	copied.Status = status
	updated, err := r.Foos.Foos(foo.Namespace).UpdateStatus(ctx, copied, metav1.UpdateOptions{})
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		r.own.of(key).refusedFoo = foo.ResourceVersion
	}
	if err != nil {
		return fmt.Errorf("update status of Foo %s: %w", key, err)
	}
	r.own.of(key).foo = updated.ResourceVersion
	if now := stuck(status); now != nil && !same(now, stuck(foo.Status)) {
		r.Events.Event(foo, corev1.EventTypeWarning, now.Reason, now.Message)
	}
	return nil
}

// refusal names the fields that the API server refused, in words that are the
// same each time.
func refusal(err error) string {
	var fields []string
	var status apierrors.APIStatus
	if errors.As(err, &status) && status.Status().Details != nil {
		for _, cause := range status.Status().Details.Causes {
			if cause.Field != "" {
				fields = append(fields, cause.Field)
			}
		}
	}
	if fields == nil {
		return "the API server or one of its policies refuses the Deployment as invalid"
	}
	return "the API server refuses the Deployment: invalid " + strings.Join(fields, ", ")
}
