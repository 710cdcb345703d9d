package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"reflect"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	appsv1client "k8s.io/client-go/kubernetes/typed/apps/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/controller"
	"example.com/byhand/tools/judge/reference/bugs"
)

// fooController gives each Foo its Deployment.
type fooController struct {
	foos                      dynamic.NamespaceableResourceInterface
	deployments               appsv1client.DeploymentsGetter
	fooStore, deploymentStore cache.Indexer
	queue                     controller.Queue
	retries                   chan struct{} // an element for each retry that runs
	// made has the UIDs of the Deployments that this process has created.
	made sync.Map
	// updated says, by the UID of a Deployment and the generation of the Foo, when it was last
	// updated for that.
	updated sync.Map
}

// errTaken says that the Deployment of the right name is another's.
var errTaken = errors.New("the Deployment is not controlled by this Foo")

// state is what the cache, the two stores, shows of one Foo.
type state struct {
	// stored is the Foo as it came, foo the same as Go sees it. stored is the cache's: never
	// change it, change a copy.
	stored *unstructured.Unstructured
	foo    *v1alpha1.Foo
	// deployment has the name that the Foo asks for, whatever controls it. nil: there is none.
	deployment *appsv1.Deployment
	// owned are the Deployments that the Foo controls, under any name.
	owned []*appsv1.Deployment
}

// reconcile compares current with desired state and sends what differs.
func (c *fooController) reconcile(ctx context.Context, key cache.ObjectName) error {
	s, err := c.read(key)
	if s == nil || err != nil {
		return err
	}
	if s.foo.DeletionTimestamp != nil && s.deployment != nil && has(bugs.DeletesItself) {
		return c.deployments.Deployments(key.Namespace).Delete(ctx, s.deployment.Name, metav1.DeleteOptions{})
	}
	if s.foo.DeletionTimestamp != nil && !has(bugs.IgnoresDeletion) {
		return nil // What becomes of its Deployment is the garbage collector's business.
	}
	syncErr := c.sync(ctx, s)
	if apierrors.ReasonForError(syncErr) != metav1.StatusReasonUnknown && has(bugs.StatusLast) {
		return syncErr
	}
	// The status tells what the cache shows, also if a write of the Deployment has failed.
	if err := c.updateStatus(ctx, s, readiness(s, syncErr)); err != nil {
		return err
	}
	return syncErr
}

// read returns nil if there is no Foo, or none that can be served.
func (c *fooController) read(key cache.ObjectName) (*state, error) {
	stored, exists, err := c.fooStore.GetByKey(key.String())
	if err != nil || !exists {
		return nil, err
	}
	foo, err := decode(stored.(*unstructured.Unstructured))
	if err != nil {
		log.Printf("%s: %v", key, err) // Its owner must mend it, and an event will tell.
		return nil, nil
	}
	s := &state{stored: stored.(*unstructured.Unstructured), foo: foo}
	named, exists, err := c.deploymentStore.GetByKey(cache.NewObjectName(foo.Namespace, foo.Spec.DeploymentName).String())
	if err != nil {
		return nil, err
	}
	if exists {
		s.deployment = named.(*appsv1.Deployment).DeepCopy() // It may be changed.
	}
	controlled, err := c.deploymentStore.ByIndex(byController, string(foo.UID))
	if err != nil {
		return nil, err
	}
	for _, obj := range controlled {
		s.owned = append(s.owned, obj.(*appsv1.Deployment))
	}
	return s, nil
}

// decode copies a Foo into its Go type. Each is decoded alone: one that the type cannot hold does not
// stop the others.
func decode(stored *unstructured.Unstructured) (*v1alpha1.Foo, error) {
	foo := &v1alpha1.Foo{}
	return foo, runtime.DefaultUnstructuredConverter.FromUnstructured(stored.Object, foo)
}

// sync makes the Deployments what the Foo asks for.
func (c *fooController) sync(ctx context.Context, s *state) error {
	if has(bugs.DeletesFirst) {
		if err := c.deleteRenamed(ctx, s); err != nil {
			return err
		}
	}
	if has(bugs.AdoptsByName) && s.deployment != nil && metav1.GetControllerOf(s.deployment) == nil {
		s.deployment.OwnerReferences = append(s.deployment.OwnerReferences, *metav1.NewControllerRef(s.foo, fooKind))
	}
	var err error
	switch {
	case s.deployment == nil:
		err = c.create(ctx, s.foo)
		if apierrors.IsForbidden(err) && has(bugs.MakesRoom) {
			return errors.Join(c.deleteRenamed(ctx, s), err)
		}
	case !metav1.IsControlledBy(s.deployment, s.foo) && !has(bugs.NoGuard):
		return errTaken
	case s.deployment.DeletionTimestamp != nil:
		return nil // An event tells when it is gone.
	case has(bugs.ReplacesFailing) && says(s.deployment, appsv1.DeploymentReplicaFailure, corev1.ConditionTrue),
		has(bugs.ReplacesStuck) && says(s.deployment, appsv1.DeploymentProgressing, corev1.ConditionFalse):
		return c.deployments.Deployments(s.foo.Namespace).Delete(ctx, s.deployment.Name, metav1.DeleteOptions{})
	default:
		err = c.update(ctx, s)
	}
	if err != nil || has(bugs.NoRename) {
		return err
	}
	// Only now: as long as there is no new one, the old one is needed.
	return c.deleteRenamed(ctx, s)
}

// readiness is the condition that two of the bugs write. The program itself has none.
func readiness(s *state, err error) map[string]any {
	ready := map[string]any{"type": "Ready", "status": "False", "reason": "NotReady", "message": "",
		"lastTransitionTime": s.foo.CreationTimestamp.UTC().Format(time.RFC3339)}
	switch {
	case has(bugs.TellsEachTry) && apierrors.IsForbidden(err):
		ready["message"] = err.Error()
	case has(bugs.ClaimsReady) && s.deployment != nil && s.deployment.Status.AvailableReplicas == *s.deployment.Spec.Replicas:
		ready["status"], ready["reason"] = "True", "Available"
	case !has(bugs.ClaimsReady):
		return nil
	}
	return ready
}

// updateStatus writes the status if it differs.
func (c *fooController) updateStatus(ctx context.Context, s *state, ready map[string]any) error {
	var available int64
	for _, deployment := range s.owned {
		available += int64(deployment.Status.AvailableReplicas)
	}
	if has(bugs.TellsAnothers) && s.deployment != nil {
		available = int64(s.deployment.Status.AvailableReplicas)
	}
	told, found, _ := unstructured.NestedInt64(s.stored.Object, "status", "availableReplicas")
	conditions, _, _ := unstructured.NestedSlice(s.stored.Object, "status", "conditions")
	differs := !found || told != available || ready != nil && !reflect.DeepEqual(conditions, []any{ready})
	if !differs && !has(bugs.StatusEveryTime) {
		return nil
	}
	desired := s.stored.DeepCopy()
	if ready != nil {
		_ = unstructured.SetNestedSlice(desired.Object, []any{ready}, "status", "conditions")
	}
	if err := unstructured.SetNestedField(desired.Object, available, "status", "availableReplicas"); err != nil {
		return err
	}
	// It has the resourceVersion of the cache. If another client has written since, the API server
	// refuses it, and the key is retried.
	if _, err := c.foos.Namespace(s.foo.Namespace).UpdateStatus(ctx, desired, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("update status: %w", err)
	}
	return nil
}

// errStale says that the cache is older than the API server. Retry when it is not.
var errStale = errors.New("the cache shows an older Foo")

// verify returns an error unless the API server has the same Foo, with the same spec, as
// the cache. The cache may be old: at the start, after a break of the watch, after every
// write. An old Foo may ask for what its owner no longer wants.
func (c *fooController) verify(ctx context.Context, foo *v1alpha1.Foo) error {
	if has(bugs.TrustsCache) {
		return nil
	}
	live, err := c.foos.Namespace(foo.Namespace).Get(ctx, foo.Name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("get Foo: %w", err)
	}
	if live.GetUID() != foo.UID || live.GetGeneration() != foo.Generation {
		return errStale
	}
	return nil
}
