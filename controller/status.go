package controller

import (
	"context"
	"errors"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

// blockedError says why a Foo cannot have its Deployment now. It is not retried: an event of
// the Foo (InvalidSpec) or of the Deployment (NameTaken, WaitingForDeletion) adds the key
// again.
type blockedError struct {
	// reason and message are those of the Foo's conditions.
	reason, message string
}

func (e *blockedError) Error() string { return e.message }

// maxMessage limits a message in a condition, in bytes. The CRD allows 32768 characters.
const maxMessage = 1024

// retryable returns the error that the worker must retry, if any.
func retryable(err error) error {
	if blocked := (*blockedError)(nil); errors.As(err, &blocked) {
		return nil
	}
	return err
}

// isRefusal reports whether the API server understood a request and refused it: a quota, a
// policy, a webhook, a missing right. A person must act, and no event says when.
func isRefusal(err error) bool {
	// Without a reason, as in a webhook's denial, these look at the HTTP status code.
	return apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsRequestEntityTooLargeError(err)
}

// updateStatus writes the status that follows from the state and from the error of
// syncDeployment, if it differs from the one that the Foo has.
func (r *FooReconciler) updateStatus(ctx context.Context, s *fooState, syncErr error) error {
	foo, status := s.foo, calculateStatus(s, syncErr)
	// reflect.DeepEqual, except that nil and empty are equal, and two times in different
	// time zones.
	if equality.Semantic.DeepEqual(foo.Status, status) {
		return nil
	}
	// foo is the cache's: never change it, change a copy.
	desired := foo.DeepCopy()
	desired.Status = status
	updated, err := r.Foos.Foos(foo.Namespace).UpdateStatus(ctx, desired, metav1.UpdateOptions{})
	s.writes = append(s.writes, Write{Store: r.FooStore, Before: foo, After: updated, Err: err})
	if err != nil {
		return fmt.Errorf("update status of Foo %s/%s: %w", foo.Namespace, foo.Name, err)
	}
	// After the write: otherwise every retry of it would record the Event.
	if report := stalled(status); report != nil && !sameReport(report, stalled(foo.Status)) {
		r.Events.Event(foo, corev1.EventTypeWarning, report.Reason, report.Message)
	}
	return nil
}

// calculateStatus returns the Foo's status: the current state, with the error of
// syncDeployment as one input. It equals the Foo's own status if nothing has changed.
func calculateStatus(s *fooState, err error) v1alpha1.FooStatus {
	foo, status := s.foo, *s.foo.Status.DeepCopy()
	reason, message := explain(s, err)
	if reason == "" {
		return status
	}
	// After an error, count what the Foo still controls.
	running := s.owned
	if err == nil {
		running = []*appsv1.Deployment{s.deployment}
	}
	status.Replicas, status.AvailableReplicas = 0, 0
	for _, d := range running {
		status.Replicas += d.Status.Replicas
		status.AvailableReplicas += d.Status.AvailableReplicas
	}
	status.ObservedGeneration = foo.Generation
	status.Selector = labels.SelectorFromSet(podLabels(foo)).String()
	setCondition := func(conditionType string, is bool) {
		condition := metav1.Condition{Type: conditionType, Status: metav1.ConditionFalse, ObservedGeneration: foo.Generation, Reason: reason, Message: message}
		if is {
			condition.Status = metav1.ConditionTrue
		}
		// Keeps the transition time while the condition's status stays the same.
		meta.SetStatusCondition(&status.Conditions, condition)
	}
	setCondition(v1alpha1.FooReady, reason == v1alpha1.ReasonAvailable)
	setCondition(v1alpha1.FooProgressing, reason == v1alpha1.ReasonWaitingForReplicas || reason == v1alpha1.ReasonWaitingForDeletion)
	// For takeover.go. Not written for its own sake: that would cost a request for each event
	// of the Deployment.
	if s.deployment != nil && (s.rewriteVersion || !equality.Semantic.DeepEqual(status, foo.Status)) {
		status.ObservedDeploymentVersion = s.deployment.ResourceVersion
	}
	return status
}

// explain returns the reason and the message of the Foo's conditions. An empty reason
// means: leave the status as it is. A request failed in a way that says nothing about the
// Foo (a timeout, a conflict, a 5xx), and is retried.
func explain(s *fooState, err error) (reason, message string) {
	blocked := (*blockedError)(nil)
	switch {
	case err == nil:
		return rollout(s.deployment)
	case errors.As(err, &blocked):
		return blocked.reason, blocked.message
	case !isRefusal(err):
		return "", ""
	}
	// Keep the first message. The next may differ in a number, and each change of the
	// status adds the key again.
	before := stalled(s.foo.Status)
	if before != nil && before.Reason == v1alpha1.ReasonForbidden && before.ObservedGeneration == s.foo.Generation {
		return before.Reason, before.Message
	}
	message = err.Error()
	return v1alpha1.ReasonForbidden, strings.ToValidUTF8(message[:min(len(message), maxMessage)], "")
}

// rollout says how many of the replicas that the Foo asks for are available.
func rollout(deployment *appsv1.Deployment) (reason, message string) {
	available, desired := deployment.Status.AvailableReplicas, int32(1)
	if deployment.Spec.Replicas != nil {
		desired = *deployment.Spec.Replicas
	}
	message = fmt.Sprintf("%d of %d replicas are available", available, desired)
	switch {
	case available < desired:
		return v1alpha1.ReasonWaitingForReplicas, message
	case deployment.Status.ObservedGeneration < deployment.Generation:
		// The numbers are for an older spec.
		return v1alpha1.ReasonWaitingForReplicas, "the Deployment controller has not seen the new spec yet"
	}
	return v1alpha1.ReasonAvailable, message
}

// hadDeployment reports whether a Foo had its Deployment when its status was written.
func hadDeployment(foo *v1alpha1.Foo) bool {
	ready := meta.FindStatusCondition(foo.Status.Conditions, v1alpha1.FooReady)
	return ready != nil && (ready.Reason == v1alpha1.ReasonAvailable || ready.Reason == v1alpha1.ReasonWaitingForReplicas || ready.Reason == v1alpha1.ReasonWaitingForDeletion)
}

// stalled returns the Ready condition of a status that is neither ready nor progressing: a
// person must act. It returns nil for any other status.
func stalled(status v1alpha1.FooStatus) *metav1.Condition {
	if meta.IsStatusConditionTrue(status.Conditions, v1alpha1.FooProgressing) {
		return nil
	}
	if ready := meta.FindStatusCondition(status.Conditions, v1alpha1.FooReady); ready != nil && ready.Status == metav1.ConditionFalse {
		return ready
	}
	return nil
}

// sameReport reports whether two conditions, of which before may be nil, tell a person
// the same.
func sameReport(now, before *metav1.Condition) bool {
	return before != nil && now.Reason == before.Reason && now.Message == before.Message
}
