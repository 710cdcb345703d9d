package lab

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/controller/foo"
	"example.com/byhand/informer"
)

// edges is the handler and the reconcile of an edge-triggered program. It acts on events of Foos: it
// creates a Deployment for a new Foo or a new name, and adds the difference in replicas. It does not
// correct a change of the Deployment, or one made while it was down.
type edges struct {
	cache.ResourceEventHandler // of Foos
	*foo.Reconciler            // It creates the Deployment.

	done sync.Map // by UID, each Foo as of its last handled change
}

// OnAdd is also called for the Foos of the first list, which did not change.
func (e *edges) OnAdd(obj any, isInInitialList bool) {
	if isInInitialList {
		e.done.Store(obj.(*v1alpha1.Foo).UID, obj)
	}
	e.ResourceEventHandler.OnAdd(obj, isInInitialList)
}

// Reconcile has the contract of controller.Reconcile.
func (e *edges) Reconcile(ctx context.Context, key cache.ObjectName) (requeueAfter time.Duration, err error) {
	stored, exists, _ := e.FooStore.GetByKey(key.String())
	if !exists {
		return 0, nil
	}
	is, was := stored.(*v1alpha1.Foo), &v1alpha1.Foo{}
	if done, known := e.done.Load(is.UID); known {
		was = done.(*v1alpha1.Foo)
	}
	more := ptr.Deref(is.Spec.Replicas, 1) - ptr.Deref(was.Spec.Replicas, 1)
	switch {
	case is.Spec.DeploymentName != was.Spec.DeploymentName:
		requeueAfter, err = e.Reconciler.Reconcile(ctx, key)
	case more != 0:
		for _, deployment := range informer.DeploymentsOf(e.DeploymentStore, is) {
			scaled := deployment.DeepCopy()
			scaled.Spec.Replicas = new(max(0, ptr.Deref(scaled.Spec.Replicas, 1)+more))
			_, failed := e.Deployments.Deployments(is.Namespace).Update(ctx, scaled, metav1.UpdateOptions{})
			err = errors.Join(err, failed)
		}
	default:
		err = e.writeStatus(ctx, is)
	}
	if err == nil && requeueAfter == 0 {
		e.done.Store(is.UID, is)
	}
	return requeueAfter, err
}

// writeStatus reports the replicas, and writes no Deployment. If the name is taken, it writes nothing.
func (e *edges) writeStatus(ctx context.Context, is *v1alpha1.Foo) error {
	named, exists, _ := e.DeploymentStore.GetByKey(is.Namespace + "/" + is.Spec.DeploymentName)
	if exists && !metav1.IsControlledBy(named.(*appsv1.Deployment), is) {
		return nil
	}
	now, wanted := is.DeepCopy(), ptr.Deref(is.Spec.Replicas, 1)
	now.Status.ObservedGeneration, now.Status.Replicas, now.Status.AvailableReplicas = is.Generation, 0, 0
	for _, deployment := range informer.DeploymentsOf(e.DeploymentStore, is) {
		now.Status.Replicas += deployment.Status.Replicas
		now.Status.AvailableReplicas += deployment.Status.AvailableReplicas
	}
	ready := metav1.Condition{Type: v1alpha1.FooReady, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonAvailable, ObservedGeneration: is.Generation,
		Message: fmt.Sprintf("%d of %d replicas are available", now.Status.AvailableReplicas, wanted)}
	if now.Status.AvailableReplicas != wanted || now.Status.Replicas != wanted {
		ready.Status, ready.Reason = metav1.ConditionFalse, v1alpha1.ReasonWaitingForReplicas
	}
	meta.SetStatusCondition(&now.Status.Conditions, ready)
	if equality.Semantic.DeepEqual(is.Status, now.Status) {
		return nil
	}
	_, err := e.Foos.Foos(is.Namespace).UpdateStatus(ctx, now, metav1.UpdateOptions{})
	return err
}
