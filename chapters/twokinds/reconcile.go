package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/clientset"
	"example.com/byhand/controller"
)

// errAnother is for a proxy or a cache that returns a different object. Otherwise the reconcile
// would wait forever for a store to show that object's version.
var errAnother = errors.New("the response is a different object")

// reconciler gives each Team its Foos, and rolls up their state. It has clients for writes and the
// informers' stores for reads.
type reconciler struct {
	teamClient           rest.Interface
	fooClient            clientset.FoosGetter
	teams, foos, secrets cache.Indexer
	// writes holds the writes that the stores do not show yet.
	writes controller.PendingWrites
}

// Reconcile implements controller.Reconcile.
func (r *reconciler) Reconcile(ctx context.Context, key cache.ObjectName) (requeueAfter time.Duration, err error) {
	if !r.writes.Observed(key) {
		return controller.CacheRetry, nil
	}
	team, ok := get[*Team](r.teams, key)
	if !ok || team.DeletionTimestamp != nil {
		return 0, nil // The garbage collector deletes the Foos. A new one would delay it.
	}
	// The store's objects are shared, so change a copy. Its resourceVersion guards the write.
	changed := team.DeepCopyObject().(*Team)
	changed.Status.ReadyFoos, changed.Status.SecretVersion = 0, ""
	secret, ok := get[*corev1.Secret](r.secrets, cache.NewObjectName(team.Namespace, team.Spec.SecretName))
	if ok && len(secret.Data["token"]) > 0 {
		changed.Status.SecretVersion = secret.ResourceVersion
		err = r.createFoos(ctx, team)
	}
	r.rollUp(team, &changed.Status, err)
	if equality.Semantic.DeepEqual(team, changed) {
		return 0, err
	}
	failed := r.teamClient.Put().Namespace(team.Namespace).Resource(resource).Name(team.Name).SubResource("status").Body(changed).Do(ctx).Into(changed)
	if failed == nil && changed.UID != team.UID {
		failed = errAnother
	}
	if failed == nil {
		r.writes.Await(key, r.teams, changed)
	}
	return 0, errors.Join(err, failed)
}

// createFoos creates each member's missing Foo. Its name is derived from the Team, so a lost response
// or a faster process cannot cause a second one.
func (r *reconciler) createFoos(ctx context.Context, team *Team) (err error) {
	for _, member := range team.Spec.Members {
		name := fooOf(team, member)
		if _, exists := get[*v1alpha1.Foo](r.foos, name); exists {
			continue // exists, with any owner; its deletion enqueues the Team
		}
		foo := &v1alpha1.Foo{Spec: v1alpha1.FooSpec{DeploymentName: name.Name}}
		foo.Name, foo.OwnerReferences = name.Name, []metav1.OwnerReference{*metav1.NewControllerRef(team, kind)}
		created, failed := r.fooClient.Foos(team.Namespace).Create(ctx, foo, metav1.CreateOptions{})
		if failed == nil && (created.Name != name.Name || !metav1.IsControlledBy(created, team)) {
			failed = errAnother
		}
		if err = errors.Join(err, failed); failed == nil {
			r.writes.Await(cache.MetaObjectToName(team), r.foos, created)
		}
	}
	return err
}

// rollUp fills the status from the stores and err, so the order of events does not matter. Its text has the
// spec's order: in map order it would differ each time.
func (r *reconciler) rollUp(team *Team, status *TeamStatus, err error) {
	var waiting []string
	for _, member := range team.Spec.Members {
		name := fooOf(team, member)
		switch foo, ok := get[*v1alpha1.Foo](r.foos, name); {
		// Compare UIDs: a Team that was deleted and recreated has no Foos yet.
		case ok && !metav1.IsControlledBy(foo, team):
			waiting = append(waiting, name.Name+" (not of this Team)")
		// The condition may belong to an earlier spec. The start of a deletion raises the generation, too.
		case ok && meta.IsStatusConditionTrue(foo.Status.Conditions, v1alpha1.FooReady) && foo.Status.ObservedGeneration == foo.Generation:
			status.ReadyFoos++
		default:
			waiting = append(waiting, name.Name)
		}
	}
	ready := metav1.Condition{Type: "Ready", Status: metav1.ConditionFalse, ObservedGeneration: team.Generation}
	switch {
	case status.SecretVersion == "":
		ready.Reason, ready.Message = "SecretMissing", fmt.Sprintf("no Secret %s of type %s with a token exists", team.Spec.SecretName, secretType)
	case controller.IsRejected(err):
		// Omit the text of err: if it has a request ID, each attempt would write the status, and cause an event.
		ready.Reason, ready.Message = "WriteFailed", "the API server rejects a Foo: see the log"
	case len(waiting) > 0:
		ready.Reason, ready.Message = "WaitingForFoos", fmt.Sprint("not ready: ", waiting)
	default:
		ready.Status, ready.Reason = metav1.ConditionTrue, "Ready"
	}
	meta.SetStatusCondition(&status.Conditions, ready)
}

func get[T any](store cache.Store, key cache.ObjectName) (obj T, ok bool) {
	stored, _, _ := store.GetByKey(key.String()) // nil if not found
	obj, ok = stored.(T)
	return obj, ok
}
