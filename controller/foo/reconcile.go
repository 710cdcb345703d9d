package foo

import (
	"context"
	"errors"
	"time"

	appsv1client "k8s.io/client-go/kubernetes/typed/apps/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/clientset"
	"example.com/byhand/controller"
	"example.com/byhand/informer"
)

// Reconciler gives each Foo its Deployment. All fields except Writes must be set.
type Reconciler struct {
	// Foos and Deployments are the clients.
	Foos        clientset.FoosGetter
	Deployments appsv1client.DeploymentsGetter
	// FooStore and DeploymentStore are the cache: the stores of the informers.
	FooStore, DeploymentStore cache.Indexer
	Events                    events.EventRecorder
	// Writes holds the writes that the cache does not show yet (readyourwrites.go).
	Writes controller.PendingWrites
	// Rewrites detects writes that do not last (rewrites.go).
	Rewrites *controller.Rewrites
}

// NewInformers returns the informers of Foos and of their Deployments, in one namespace, or in all if it
// is "". Their handlers enqueue the keys of Foos.
func NewInformers(client clientset.Interface, kube informer.AppsV1Getter, namespace string, resync time.Duration, queue controller.Queue) (foos, deployments *informer.Informer) {
	foos = informer.NewFoos(client, namespace, resync, controller.EnqueueObject(queue))
	// Deployments need no resync: the resync of the Foos reconciles them.
	deployments = informer.NewDeployments(kube, namespace, 0, controller.EnqueueOwner(queue, fooKind.GroupKind(), informer.FoosNaming(foos.Store)))
	return foos, deployments
}

// Reconcile implements controller.Reconcile. It is level-triggered: it does not depend on the event that
// enqueued the key.
func (r *Reconciler) Reconcile(ctx context.Context, key cache.ObjectName) (requeueAfter time.Duration, err error) {
	// Wait until the cache shows the writes of the last reconcile.
	if !r.Writes.Observed(key) {
		return controller.CacheRetry, nil
	}

	foo, exists := get[*v1alpha1.Foo](r.FooStore, key)
	if !exists || foo.DeletionTimestamp != nil {
		return 0, nil // The garbage collector deletes the Deployment (doc.go).
	}
	owned := informer.DeploymentsOf(r.DeploymentStore, foo) // under any name

	// Write the differences from the spec.
	deployment, err := r.syncDeployment(ctx, foo, owned)
	if controller.IsRace(err) {
		return 0, err // The cache is stale: do not report a status from it.
	}

	// Report the result, even if a write failed.
	statusErr := r.updateStatus(ctx, foo, deployment, owned, err)
	if _, isBlocked := errors.AsType[*blockedError](err); isBlocked { // blocked.go
		err = nil // A retry cannot help. An event of the Foo or of the Deployment enqueues the key.
	}
	return 0, errors.Join(err, statusErr)
}

// get returns the object with this key. All readers of the store share it: do not change it.
func get[T any](store cache.Store, key cache.ObjectName) (obj T, exists bool) {
	stored, _, _ := store.GetByKey(key.String()) // nil if not found
	obj, exists = stored.(T)
	return obj, exists
}
