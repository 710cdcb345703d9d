package foo

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/controller"
)

// updateStatus writes the status if it has changed. err is the result of syncDeployment.
func (r *Reconciler) updateStatus(ctx context.Context, foo *v1alpha1.Foo, deployment *appsv1.Deployment, owned []*appsv1.Deployment, err error) error {
	desired := foo.DeepCopy()
	desired.Status = calculateStatus(foo, deployment, owned, err)
	if !equality.Semantic.DeepEqual(foo.Status, desired.Status) {
		if err := r.sendStatus(ctx, foo, desired); err != nil {
			return err
		}
	}
	return r.Rewrites.Err(foo, "status")
}

// sendStatus sends the status. If a user must act, an Event reports each new reason.
func (r *Reconciler) sendStatus(ctx context.Context, foo, desired *v1alpha1.Foo) error {
	updated, err := r.Foos.Foos(foo.Namespace).UpdateStatus(ctx, desired, metav1.UpdateOptions{})
	if err != nil {
		r.Writes.AwaitChange(cache.MetaObjectToName(foo), r.FooStore, foo, err)
		return fmt.Errorf("update status: %w", err)
	}
	r.Writes.Await(cache.MetaObjectToName(foo), r.FooStore, updated)
	ready, status := readyOf(desired.Status), desired.Status
	r.Rewrites.Record(foo, "status", [4]any{status.Replicas, status.AvailableReplicas, ready.Reason, ready.Message})
	if ready.Reason != readyOf(foo.Status).Reason && !slices.Contains(reasonsWithoutEvent, ready.Reason) {
		r.Events.Eventf(foo, nil, corev1.EventTypeWarning, ready.Reason, "Reconcile", "%s", ready.Message)
	}
	if !equality.Semantic.DeepEqual(updated.Status, status) {
		return fmt.Errorf("update status: %w (or the cluster has a different version of config/crd)", controller.ErrReverted)
	}
	return nil
}

// reasonsWithoutEvent are the reasons that need no action.
var reasonsWithoutEvent = []string{v1alpha1.ReasonAvailable, v1alpha1.ReasonWaitingForReplicas, v1alpha1.ReasonWaitingForDeletion}

func readyOf(status v1alpha1.FooStatus) metav1.Condition {
	return ptr.Deref(meta.FindStatusCondition(status.Conditions, v1alpha1.FooReady), metav1.Condition{})
}

// calculateStatus returns the status of a Foo from the Deployment that it names (nil if not found), the
// Deployments that it owns, and the error of the writes.
func calculateStatus(foo *v1alpha1.Foo, deployment *appsv1.Deployment, owned []*appsv1.Deployment, err error) v1alpha1.FooStatus {
	status := *foo.Status.DeepCopy()
	status.ObservedGeneration = foo.Generation
	status.Selector = labels.Set{uidLabel: string(foo.UID)}.AsSelector().String()

	if deployment != nil && metav1.IsControlledBy(deployment, foo) {
		owned = []*appsv1.Deployment{deployment} // Otherwise the Deployments with earlier names count.
	}
	status.Replicas, status.AvailableReplicas = 0, 0
	for _, d := range owned {
		status.Replicas += d.Status.Replicas
		status.AvailableReplicas += d.Status.AvailableReplicas
	}

	ready := metav1.Condition{Type: v1alpha1.FooReady, Status: metav1.ConditionFalse, ObservedGeneration: foo.Generation,
		LastTransitionTime: metav1.Now().Rfc3339Copy()} // The API server stores whole seconds.
	if ready.Reason, ready.Message = explain(deployment, err); ready.Reason == v1alpha1.ReasonAvailable {
		ready.Status = metav1.ConditionTrue
	}
	// A rejection may contain an identifier or a number that changes with each retry. Keep the first message.
	_, isBlocked := errors.AsType[*blockedError](err)
	if was := readyOf(foo.Status); err != nil && !isBlocked && was.ObservedGeneration == foo.Generation && sameWords(was.Message, ready.Message) {
		ready.Message = was.Message
	}
	// This keeps the transition time unless the condition's status changes.
	meta.SetStatusCondition(&status.Conditions, ready)
	return status
}

// sameWords reports whether two messages differ only in words that contain a digit.
func sameWords(a, b string) bool {
	return wordsWithDigits.ReplaceAllString(a, "") == wordsWithDigits.ReplaceAllString(b, "")
}

var wordsWithDigits = regexp.MustCompile(`\S*\d\S*`)

func explain(deployment *appsv1.Deployment, err error) (reason, message string) {
	if err == nil {
		return rollout(deployment)
	}
	message = truncate(err.Error())
	switch problem, isBlocked := errors.AsType[*blockedError](err); {
	case isBlocked:
		return problem.reason, message
	case errors.Is(err, controller.ErrReverted):
		return v1alpha1.ReasonChangedByOthers, message
	case controller.IsRejected(err):
		return v1alpha1.ReasonForbidden, message
	}
	return v1alpha1.ReasonRequestFailed, message
}

// rollout explains a Deployment that matches the spec. The formula is the Deployment controller's:
// DeploymentComplete in pkg/controller/deployment/util of Kubernetes.
func rollout(d *appsv1.Deployment) (reason, message string) {
	is, desired := d.Status, ptr.Deref(d.Spec.Replicas, 1)
	message = fmt.Sprintf("%d of %d replicas are available", is.AvailableReplicas, desired)
	if is.ObservedGeneration >= d.Generation && is.Replicas == desired && is.UpdatedReplicas == desired && is.AvailableReplicas == desired {
		return v1alpha1.ReasonAvailable, message
	}
	reason, message = v1alpha1.ReasonWaitingForReplicas, fmt.Sprintf("%s (%d in all, %d of the newest template)", message, is.Replicas, is.UpdatedReplicas)
	for _, c := range is.Conditions {
		switch {
		case c.Type == appsv1.DeploymentReplicaFailure && c.Status == corev1.ConditionTrue, c.Reason == "ReplicaSetCreateError":
			return v1alpha1.ReasonReplicaFailure, truncate(c.Message)
		case c.Reason == v1alpha1.ReasonProgressDeadlineExceeded:
			reason, message = c.Reason, truncate(c.Message)
		}
	}
	return reason, message
}

// truncate returns the first KiB of a message, the limit of an Event.
func truncate(message string) string {
	return strings.ToValidUTF8(message[:min(len(message), 1024)], "")
}
