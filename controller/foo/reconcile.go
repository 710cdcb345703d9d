package foo

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	appsv1client "k8s.io/client-go/kubernetes/typed/apps/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/clientset"
	"example.com/byhand/controller"
	"example.com/byhand/informer"
)

// Reconciler gives each Foo its Deployment. All fields must be set, except Writes, whose zero
// value is ready.
type Reconciler struct {
	// Foos and Deployments are the clients that it writes through.
	Foos        clientset.FoosGetter
	Deployments appsv1client.DeploymentsGetter
	// FooStore and DeploymentStore are the cache: the informers' stores.
	FooStore, DeploymentStore cache.Indexer
	// Events tells people what was done.
	Events events.EventRecorder
	// Writes holds what the API server has answered and the cache does not show yet. Until it
	// does, a reconcile would send again what was sent (readyourwrites.go).
	Writes controller.PendingWrites
	// Failures holds what was sent, and how it ended. An event may bring the key at once; what
	// has failed, or was undone, still waits for its back-off (failures.go).
	Failures *controller.Failures
}

// NewInformers returns the informers of Foos and of their Deployments, of a namespace or of all if
// it is "". Their handlers add the keys of Foos to the queue: of what did not change, behind what
// did.
func NewInformers(client clientset.Interface, kube informer.AppsV1Getter, namespace string, resync time.Duration, queue controller.PriorityQueue) (foos, deployments *informer.Informer) {
	foos = informer.NewFoos(client, namespace, resync, controller.LowPriorityWhenUnchanged(queue, controller.EnqueueObject))
	deployments = informer.NewDeployments(kube, namespace, resync,
		controller.LowPriorityWhenUnchanged(queue, func(queue controller.Queue) cache.ResourceEventHandler {
			return controller.EnqueueOwner(queue, fooKind.GroupKind(), func(deployment cache.ObjectName) []cache.ObjectName {
				return informer.FoosNaming(foos.Store, deployment)
			})
		}))
	return foos, deployments
}

// fooState is the current state of one Foo: what the cache shows, and what this
// reconcile has written since.
type fooState struct {
	key cache.ObjectName
	foo *v1alpha1.Foo
	// deployment has the name that the spec asks for. Another object may control it. nil: the
	// cache has none.
	deployment *appsv1.Deployment
	// differs names a field of it that is not as the spec asks, "" if there is none.
	differs string
	// owned are the Deployments that the Foo controls, under any name.
	owned []*appsv1.Deployment
	// isNew: nothing shows that anything was ever written for the Foo, and it can have its Deployment.
	isNew bool
	// blocked says why the Foo cannot have the Deployment now. This is not retried: an event
	// of the Foo or of the Deployment adds the key. nil: it can.
	blocked *cause

	// failures are the writes that are wanted and not done.
	failures []controller.Failure
	// wait is the shortest time until one of them may be sent again. 0: none waits.
	wait time.Duration
	errs []error
	// behind: the cache is behind the API server. Decide nothing from it.
	behind bool
}

// Reconcile has the contract of controller.Reconcile. It is level-triggered. README.md has a table
// of what it does.
func (r *Reconciler) Reconcile(ctx context.Context, key cache.ObjectName) (requeueAfter time.Duration, err error) {
	// Not before the cache shows what was written for this key.
	if observed, err := r.Writes.Observed(key); !observed {
		return controller.CacheRetry, err
	}

	// The current state, as the cache shows it.
	foo, ok := get[*v1alpha1.Foo](r.FooStore, key)
	if !ok || foo.DeletionTimestamp != nil {
		return 0, nil // The garbage collector deletes the Deployment (doc.go, Deletion).
	}
	state := r.readState(key, foo)

	// Write what differs from the spec: in half of the time, so that the status can tell if it
	// was not enough.
	syncCtx, cancel := context.WithTimeout(ctx, controller.ReconcileTimeout/2)
	defer cancel()
	r.syncDeployment(syncCtx, state)
	if state.behind {
		return controller.CacheRetry, errors.Join(state.errs...)
	}

	// Write what is known now into the status.
	r.updateStatus(ctx, state)
	return state.wait, errors.Join(state.errs...)
}

// try sends a write for a Foo, unless it waits for its back-off. send is nil if the write is not
// wanted. A new spec, which has a new generation, has no back-off to wait for.
func (r *Reconciler) try(s *fooState, w controller.Write, send func() error) {
	w.New = s.isNew
	f := r.Failures.Try(s.foo, w, send)
	if f.Err == nil {
		return
	}
	s.failures = append(s.failures, f)
	isBehind := errors.Is(f.Err, controller.ErrCacheBehind) && !f.Lasts
	s.behind = s.behind || isBehind
	switch {
	case !f.Sent, isBehind:
		// There is nothing to log.
	case f.Lasts:
		s.errs = append(s.errs, errors.New(f.Err.Error())) // no race any more
	default:
		s.errs = append(s.errs, f.Err)
	}
	if f.Wait > 0 && (s.wait == 0 || f.Wait < s.wait) {
		s.wait = f.Wait
	}
}

// readState returns what the cache shows of a Foo.
func (r *Reconciler) readState(key cache.ObjectName, foo *v1alpha1.Foo) *fooState {
	s := &fooState{key: key, foo: foo, owned: informer.DeploymentsOf(r.DeploymentStore, foo)}
	// What was tried longest ago comes first: of those whose deletion hangs none holds up another for ever.
	slices.SortFunc(s.owned, func(a, b *appsv1.Deployment) int {
		return cmp.Or(r.Failures.Tried(foo, deletion(a)).Compare(r.Failures.Tried(foo, deletion(b))), cmp.Compare(a.Name, b.Name))
	})
	if d, ok := get[*appsv1.Deployment](r.DeploymentStore, cache.NewObjectName(foo.Namespace, foo.Spec.DeploymentName)); ok {
		s.set(d)
	}
	if s.blocked = validate(foo); s.blocked == nil && s.deployment != nil {
		s.blocked = r.checkController(s.deployment, foo)
	}
	s.isNew = foo.Generation <= 1 && len(foo.Status.Conditions) == 0 && s.blocked == nil && s.deployment == nil && len(s.owned) == 0 && !r.Failures.Failed(foo)
	return s
}

// set notes the Deployment that has the name.
func (s *fooState) set(d *appsv1.Deployment) { s.deployment, s.differs = d, differs(d, s) }

// get returns the object that a store holds under key. The store shares it: do not
// change it.
func get[T any](store cache.Store, key cache.ObjectName) (obj T, ok bool) {
	stored, _, _ := store.GetByKey(key.String()) // nil if there is none
	obj, ok = stored.(T)
	return obj, ok
}
