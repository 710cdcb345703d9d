package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

// report is what the condition Ready says.
type report struct{ reason, message string }

// changedError is a write that the API server accepted and stored with other values.
type changedError struct{ message string }

func (e *changedError) Error() string { return e.message }

// maxMessage limits a message in a condition, in bytes. The CRD allows 32768 characters.
const maxMessage = 1024

// warns lists the reasons that record an Event: a person must act.
var warns = []string{
	v1alpha1.ReasonNameTaken, v1alpha1.ReasonInvalidSpec, v1alpha1.ReasonForbidden, v1alpha1.ReasonRequestFailed,
	v1alpha1.ReasonChangedByWebhook, v1alpha1.ReasonReplicaFailure, v1alpha1.ReasonProgressDeadlineExceeded,
}

// isRefusal reports whether the API server understood a request and refused it. No event says
// when that ends.
func isRefusal(err error) bool {
	// Without a reason, as in a webhook's denial, these look at the HTTP status code.
	return apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsRequestEntityTooLargeError(err)
}

// updateStatus writes what calculateStatus returns, if it differs from what the Foo has. If wait
// is not 0, the same update has failed, and its back-off takes so long: nothing was sent.
func (r *FooReconciler) updateStatus(ctx context.Context, s *fooState, failure Failure) (wait time.Duration, err error) {
	foo, status := s.foo, calculateStatus(s, failure)
	// reflect.DeepEqual, except that nil and empty are equal, and two times in different
	// time zones.
	if equality.Semantic.DeepEqual(foo.Status, status) {
		r.StatusFailures.Record(s.key, "", nil)
		return 0, nil
	}
	says := readyReport(status)
	attempt := fmt.Sprint(foo.UID, status.ObservedGeneration, status.AvailableReplicas, status.Replicas, says)
	if _, wait := r.StatusFailures.Last(s.key, attempt); wait > 0 {
		return wait, nil
	}
	err = r.writeStatus(ctx, s, status)
	// After the write: otherwise every retry of it would record the Event.
	_, changed := errors.AsType[*changedError](err)
	if written := err == nil || changed; written && slices.Contains(warns, says.reason) && !says.sameCause(readyReport(foo.Status)) {
		r.Events.Event(foo, corev1.EventTypeWarning, says.reason, says.message)
	}
	if r.StatusFailures.Record(s.key, attempt, err).Lasts {
		// Not a race, which retry hardly logs: perhaps the CRD has no status subresource.
		err = errors.New(err.Error())
	}
	return 0, err
}

func (r *FooReconciler) writeStatus(ctx context.Context, s *fooState, status v1alpha1.FooStatus) error {
	// Earlier versions of this program wrote this condition. It goes with another change.
	meta.RemoveStatusCondition(&status.Conditions, "Progressing")
	for i := range status.Conditions {
		// metav1.Time sends whole seconds.
		status.Conditions[i].LastTransitionTime = status.Conditions[i].LastTransitionTime.Rfc3339Copy()
	}
	desired := s.foo.DeepCopy()
	desired.Status = status
	updated, err := r.Foos.Foos(desired.Namespace).UpdateStatus(ctx, desired, metav1.UpdateOptions{})
	if err != nil {
		r.Writes.Outdated(s.key, r.FooStore, s.foo, err)
		return fmt.Errorf("update status of Foo %s/%s: %w", desired.Namespace, desired.Name, err)
	}
	r.Writes.Wrote(s.key, r.FooStore, updated)
	if !equality.Semantic.DeepEqual(updated.Status, status) {
		return &changedError{fmt.Sprintf("update status of Foo %s/%s: the API server stored another one: is the CRD that of config/crd? does an admission webhook change it?", desired.Namespace, desired.Name)}
	}
	return nil
}

// calculateStatus returns the status that follows from the state and from what failed. It
// equals the Foo's own if nothing has changed.
func calculateStatus(s *fooState, failure Failure) v1alpha1.FooStatus {
	foo, status := s.foo, *s.foo.Status.DeepCopy()
	// Which Deployments count is said at FooStatus.Replicas.
	running := s.owned
	if s.deployment != nil && metav1.IsControlledBy(s.deployment, foo) {
		running = []*appsv1.Deployment{s.deployment}
	}
	status.Replicas, status.AvailableReplicas = 0, 0
	for _, d := range running {
		status.Replicas += d.Status.Replicas
		status.AvailableReplicas += d.Status.AvailableReplicas
	}
	says := explain(s, failure)
	if says.reason == "" {
		return status // with new numbers only: nothing is known of the new spec
	}
	says.message = strings.ToValidUTF8(says.message[:min(len(says.message), maxMessage)], "")
	// The same failure keeps its first message. The next may differ in a number, and each change
	// of the status costs a request.
	if before := readyReport(foo.Status); failure.Err != nil && status.ObservedGeneration == foo.Generation && says.sameCause(before) {
		says = before
	}
	status.ObservedGeneration = foo.Generation
	status.Selector = labels.SelectorFromSet(podLabels(foo)).String()
	isReady := metav1.ConditionFalse
	if says.reason == v1alpha1.ReasonAvailable {
		isReady = metav1.ConditionTrue
	}
	// Keeps the transition time while the condition's status stays the same.
	meta.SetStatusCondition(&status.Conditions, metav1.Condition{Type: v1alpha1.FooReady, Status: isReady, ObservedGeneration: foo.Generation, Reason: says.reason, Message: says.message})
	return status
}

// explain returns what Ready is to say, nothing to leave it as it is.
func explain(s *fooState, failure Failure) report {
	_, changed := errors.AsType[*changedError](failure.Err)
	switch err := failure.Err; {
	case s.blocked != nil:
		return *s.blocked
	case err == nil:
		return rollout(s.deployment)
	case changed:
		return report{v1alpha1.ReasonChangedByWebhook, err.Error()}
	case isRefusal(err):
		return report{v1alpha1.ReasonForbidden, err.Error()}
	case failure.Lasts:
		return report{v1alpha1.ReasonRequestFailed, err.Error()}
	}
	// Once, this says nothing about the Foo: a timeout, a conflict, a 5xx. But it must not stay
	// ready without its replicas.
	if s.deployment != nil && readyReport(s.foo.Status).reason == v1alpha1.ReasonAvailable {
		if now := rollout(s.deployment); now.reason != v1alpha1.ReasonAvailable {
			return now
		}
	}
	return report{}
}

// rollout says how far the Deployment is, in its own words where it reports a failure.
func rollout(deployment *appsv1.Deployment) report {
	available, desired := deployment.Status.AvailableReplicas, int32(1)
	if deployment.Spec.Replicas != nil {
		desired = *deployment.Spec.Replicas
	}
	numbers := fmt.Sprintf("%d of %d replicas are available", available, desired)
	isObserved := deployment.Status.ObservedGeneration >= deployment.Generation
	switch failure := rolloutFailure(deployment); {
	case isObserved && failure != nil:
		return *failure
	case available < desired:
		return report{v1alpha1.ReasonWaitingForReplicas, numbers}
	case !isObserved:
		return report{v1alpha1.ReasonWaitingForReplicas, "the Deployment controller has not seen the new spec yet"}
	}
	return report{v1alpha1.ReasonAvailable, numbers}
}

// rolloutFailure returns the failure that the Deployment reports, nil if there is none.
func rolloutFailure(deployment *appsv1.Deployment) (failure *report) {
	for _, c := range deployment.Status.Conditions {
		switch {
		case c.Type == appsv1.DeploymentReplicaFailure && c.Status == corev1.ConditionTrue:
			return &report{v1alpha1.ReasonReplicaFailure, c.Message}
		case c.Type == appsv1.DeploymentProgressing && c.Reason == v1alpha1.ReasonProgressDeadlineExceeded:
			failure = &report{v1alpha1.ReasonProgressDeadlineExceeded, c.Message}
		}
	}
	return failure
}

// readyReport returns what the condition Ready says, nothing if there is none.
func readyReport(status v1alpha1.FooStatus) report {
	if ready := meta.FindStatusCondition(status.Conditions, v1alpha1.FooReady); ready != nil {
		return report{ready.Reason, ready.Message}
	}
	return report{}
}

// sameCause reports whether two reports tell a person the same: their messages differ in
// numbers at most, such as what is used of a quota.
func (r report) sameCause(before report) bool {
	return r.reason == before.reason && digits.Replace(r.message) == digits.Replace(before.message)
}

var digits = strings.NewReplacer("0", "", "1", "", "2", "", "3", "", "4", "", "5", "", "6", "", "7", "", "8", "", "9", "")
