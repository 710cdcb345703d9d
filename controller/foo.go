package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	appsv1client "k8s.io/client-go/kubernetes/typed/apps/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/clientset"
	"example.com/byhand/informer"
)

// errCacheBehind says that the cache, the informers' stores, is older than what is known to
// be on the API server. Decide nothing from it.
var errCacheBehind = errors.New("the cache is behind the API server")

// cacheRetry is when a key is reconciled again whose cache is behind. Usually the event that
// updates the cache adds the key within milliseconds.
const cacheRetry = time.Second

// FooReconciler gives each Foo its Deployment. All fields must be set, except Writes and those
// behind it.
type FooReconciler struct {
	// Foos and Deployments are the clients that it writes through.
	Foos        clientset.FoosGetter
	Deployments appsv1client.DeploymentsGetter
	// FooStore and DeploymentStore are the cache: the informers' stores.
	FooStore, DeploymentStore cache.Indexer
	// Events tells people what was done.
	Events record.EventRecorder
	// Writes holds what the API server has answered and the cache does not show yet. Until it
	// does, a reconcile would send again what was sent (readyourwrites.go).
	Writes PendingWrites
	// Failures holds the attempts to sync a Deployment that failed, StatusFailures those to
	// update a status. An event may bring the key at once; the next attempt still waits for its
	// back-off (failures.go).
	Failures, StatusFailures Failures
}

// fooState is the current state of one Foo: what the cache shows, and what this
// reconcile has written since.
type fooState struct {
	key cache.ObjectName
	foo *v1alpha1.Foo
	// deployment has the name that the spec asks for. Another object may control it. nil: the
	// cache has none.
	deployment *appsv1.Deployment
	// owned are the Deployments that the Foo controls, under any name.
	owned []*appsv1.Deployment
	// blocked says why the Foo cannot have the Deployment now. This is not retried: an event
	// of the Foo or of the Deployment adds the key. nil: it can.
	blocked *report
}

// Reconcile has the contract of the type Reconcile. It is level-triggered. README.md has a table
// of what it does.
func (r *FooReconciler) Reconcile(ctx context.Context, key cache.ObjectName) (requeueAfter time.Duration, err error) {
	// Not before the cache shows what was written for this key.
	if !r.Writes.Observed(key) {
		return cacheRetry, nil
	}

	// The current state, as the cache shows it.
	foo, ok := get[*v1alpha1.Foo](r.FooStore, key)
	if !ok || foo.DeletionTimestamp != nil {
		// The garbage collector deletes the Deployment (doc.go, Deletion). Nothing is left to
		// try: forget what failed.
		r.Failures.Record(key, "", nil)
		r.StatusFailures.Record(key, "", nil)
		return 0, nil
	}
	state := r.readState(key, foo)

	// Write what differs from the spec, unless the same write has failed and waits for its
	// back-off. A new spec, which has a new generation, is a new attempt and does not wait.
	attempt := fmt.Sprint(foo.UID, foo.Generation)
	failure, wait := r.Failures.Last(key, attempt)
	if wait == 0 {
		// Half of the time, so that the status can tell if it was not enough.
		syncCtx, cancel := context.WithTimeout(ctx, reconcileTimeout/2)
		err = r.syncDeployment(syncCtx, state)
		cancel()
		switch {
		case errors.Is(err, errCacheBehind):
			return cacheRetry, nil
		case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
			// The namespace is being deleted, and this Foo with it.
			return 0, nil
		}
		failure = r.Failures.Record(key, attempt, err)
	}

	// Write the result into the status.
	statusWait, statusErr := r.updateStatus(ctx, state, failure)
	if err := errors.Join(err, statusErr); err != nil {
		return 0, err
	}
	if statusWait > 0 && (wait == 0 || statusWait < wait) {
		wait = statusWait
	}
	return wait, nil
}

// readState returns what the cache shows of a Foo.
func (r *FooReconciler) readState(key cache.ObjectName, foo *v1alpha1.Foo) *fooState {
	s := &fooState{key: key, foo: foo, owned: informer.DeploymentsOf(r.DeploymentStore, foo)}
	s.deployment, _ = get[*appsv1.Deployment](r.DeploymentStore, cache.NewObjectName(foo.Namespace, foo.Spec.DeploymentName))
	if s.blocked = validate(foo); s.blocked == nil && s.deployment != nil {
		s.blocked = checkController(s.deployment, foo)
	}
	return s
}

// get returns the object that a store holds under key. The store shares it: do not
// change it.
func get[T any](store cache.Store, key cache.ObjectName) (obj T, ok bool) {
	stored, _, _ := store.GetByKey(key.String()) // nil if there is none
	obj, ok = stored.(T)
	return obj, ok
}
