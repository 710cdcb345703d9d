package foo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/controller"
)

// cause is a reason why a Foo is not ready.
type cause struct {
	// reason and message are for the condition Ready.
	reason, message string
	// id is equal as long as a person need not be told again, whatever the message. "": nobody
	// must act, and the message is always the newest.
	id string
}

// warning is a cause on which a person must act.
func warning(reason, message string) *cause { return &cause{reason, message, reason} }

// maxMessage limits the message of a cause, in bytes: an Event may have 1024, a condition 32768
// characters.
const maxMessage = 1024

// named finds the webhook, policy or quota that a refusal names, or the field of errChanged.
// Identifiers and numbers in the rest of its words are of one attempt.
var named = regexp.MustCompile(`(admission webhook|calling webhook|AdmissionPolicy) ["'][-.\w]+|quota: [-.\w]+|[.\w]+ is not as`)

// causeOf returns what a write that failed says about the Foo. Once, a conflict, a timeout or a
// 5xx says nothing.
func causeOf(f controller.Failure) (c cause, ok bool) {
	switch {
	case apierrors.HasStatusCause(f.Err, corev1.NamespaceTerminatingCause): // the namespace is being deleted
		return cause{reason: v1alpha1.ReasonNamespaceTerminating, message: f.Err.Error()}, true
	case errors.Is(f.Err, errChanged), f.Lasts && errors.Is(f.Err, controller.ErrUndone):
		c.reason = v1alpha1.ReasonChangedByOthers
	case controller.IsRefusal(f.Err):
		c.reason = v1alpha1.ReasonForbidden
	case f.Lasts:
		c.reason = v1alpha1.ReasonRequestFailed
	default:
		return cause{}, false
	}
	// The code of the answer, and not its reason: a webhook may write there what it likes.
	status, _ := errors.AsType[*apierrors.StatusError](f.Err)
	code := ptr.Deref(status, apierrors.StatusError{}).ErrStatus.Code
	c.message = f.Err.Error()
	c.id = fmt.Sprint(f.Write, " ", c.reason, " ", code, " ", named.FindString(strings.TrimPrefix(c.message, f.Write)))
	return c, true
}

// tell records one Event for the causes that are new, with the reason of the first, and gives the
// others the message that people were told first (Failures.Told).
func (r *Reconciler) tell(s *fooState, causes []cause) {
	news, reason := []string(nil), ""
	for i := range causes {
		c := &causes[i]
		if c.message = cut(c.message, maxMessage); c.id == "" {
			continue
		}
		stable, isNew := r.Failures.Told(s.foo, c.id, c.message)
		if isNew {
			news, reason = append(news, c.message), cmp.Or(reason, c.reason)
		}
		if s.blocked == nil { // What blocks is in our own words: the newest are true.
			c.message = stable
		}
	}
	// One for all: Events of one reason about one version of the Foo become one.
	if len(news) > 0 {
		r.Events.Eventf(s.foo, nil, corev1.EventTypeWarning, reason, "Reconcile", "%s", cut(strings.Join(news, "; "), maxMessage))
	}
}

// updateStatus writes the status that follows from the state, if it differs from what the Foo
// has.
func (r *Reconciler) updateStatus(ctx context.Context, s *fooState) {
	causes := explain(s)
	r.tell(s, causes)
	desired := s.foo.DeepCopy()
	desired.Status = calculateStatus(s, causes)
	status, ready := desired.Status, meta.FindStatusCondition(desired.Status.Conditions, v1alpha1.FooReady)
	w := controller.Write{Name: "update status of Foo " + s.key.String(), Version: s.foo.ResourceVersion,
		// Only times, and conditions of others, may differ in what has the same purpose.
		Purpose: fmt.Sprint(status.ObservedGeneration, status.Replicas, status.AvailableReplicas, ready.Reason, ready.Message)}
	// reflect.DeepEqual, except that nil and empty are equal, and two times in different
	// time zones.
	if equality.Semantic.DeepEqual(s.foo.Status, desired.Status) {
		r.try(s, w, nil)
		return
	}
	for i := range desired.Status.Conditions {
		// metav1.Time sends whole seconds in UTC. Then the CRD may refuse what another writer has
		// stored under an older one, such as the zero time in an offset.
		at := &desired.Status.Conditions[i].LastTransitionTime
		if *at = at.Rfc3339Copy(); at.UTC().Year() < 1900 || at.UTC().Year() > 9999 {
			*at = metav1.Now().Rfc3339Copy()
		}
	}
	r.try(s, w, func() error {
		updated, err := r.Foos.Foos(desired.Namespace).UpdateStatus(ctx, desired, metav1.UpdateOptions{})
		if err != nil {
			return err
		}
		r.Writes.Await(s.key, r.FooStore, updated)
		if !equality.Semantic.DeepEqual(updated.Status, desired.Status) {
			return fmt.Errorf("it %w is the CRD that of config/crd?", errChanged)
		}
		return nil
	})
}

// calculateStatus returns the status that follows from the state. It equals the Foo's own if
// nothing has changed. Without causes the Foo is ready.
func calculateStatus(s *fooState, causes []cause) v1alpha1.FooStatus {
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
	status.ObservedGeneration = foo.Generation
	status.Selector = labels.Set{uidLabel: string(foo.UID)}.AsSelector().String()
	ready := metav1.Condition{Type: v1alpha1.FooReady, Status: metav1.ConditionTrue, ObservedGeneration: foo.Generation,
		Reason: v1alpha1.ReasonAvailable, Message: fmt.Sprintf("%d of %d replicas are available", status.AvailableReplicas, status.AvailableReplicas)}
	if len(causes) > 0 {
		var messages []string
		for _, c := range causes {
			messages = append(messages, c.message)
		}
		ready.Status, ready.Reason, ready.Message = metav1.ConditionFalse, causes[0].reason, cut(strings.Join(messages, "; "), 32*maxMessage)
	}
	// Keeps the transition time while the condition's status stays the same.
	meta.SetStatusCondition(&status.Conditions, ready)
	return status
}

// cut returns the first bytes of a message, most of them at most.
func cut(message string, most int) string {
	return strings.Clone(strings.ToValidUTF8(message[:min(len(message), most)], "")) // not a part of a long one
}

// explain returns why the Foo is not ready, nothing if it is. It depends on what is known now,
// and not on what the Foo's status says.
func explain(s *fooState) (causes []cause) {
	if s.blocked != nil {
		return []cause{*s.blocked}
	}
	for _, f := range s.failures {
		if c, ok := causeOf(f); ok {
			causes = append(causes, c)
		}
	}
	if len(causes) == 0 {
		causes = rollout(s)
	}
	return causes
}

// rollout returns why a Deployment is not complete, by the formula of the Deployment controller
// (DeploymentComplete in pkg/controller/deployment/util of Kubernetes).
func rollout(s *fooState) (causes []cause) {
	d := s.deployment
	if d == nil {
		return waiting("Deployment %q does not exist yet", s.foo.Spec.DeploymentName)
	}
	if s.differs != "" {
		return waiting("%s of Deployment %q is not as it must be yet", s.differs, d.Name)
	}
	wanted, paused := ptr.Deref(d.Spec.Replicas, 1), ""
	if d.Spec.Paused {
		paused = ", and the Deployment is paused"
	}
	switch is := d.Status; {
	case is.AvailableReplicas < wanted:
		causes = waiting("%d of %d replicas are available%s", is.AvailableReplicas, wanted, paused)
	case is.UpdatedReplicas < wanted:
		causes = waiting("%d of %d replicas are of the newest template%s", is.UpdatedReplicas, wanted, paused)
	case is.Replicas != wanted || is.AvailableReplicas != wanted || is.UpdatedReplicas != wanted:
		causes = waiting("%d replicas are still there, %d are wanted%s", max(is.Replicas, is.AvailableReplicas, is.UpdatedReplicas), wanted, paused)
	case is.ObservedGeneration < d.Generation:
		causes = waiting("the Deployment controller has not seen the new spec yet")
	}
	// A failure that is over stays on a Deployment that is paused.
	if failure := rolloutFailure(d); failure != nil && (causes != nil || !d.Spec.Paused) {
		causes = []cause{*failure}
	}
	return causes
}

func waiting(format string, args ...any) []cause {
	return []cause{{reason: v1alpha1.ReasonWaitingForReplicas, message: fmt.Sprintf(format, args...)}}
}

// rolloutFailure returns the failure that the Deployment reports, nil if there is none.
func rolloutFailure(d *appsv1.Deployment) (failure *cause) {
	// One that cannot have its ReplicaSet says so, and not which generation it has observed.
	isObserved := d.Status.ObservedGeneration >= d.Generation
	for _, c := range d.Status.Conditions {
		switch id := fmt.Sprint(c.Type, " ", c.Reason, " ", named.FindString(c.Message)); {
		case c.Reason == "ReplicaSetCreateError",
			isObserved && c.Type == appsv1.DeploymentReplicaFailure && c.Status == corev1.ConditionTrue:
			return &cause{v1alpha1.ReasonReplicaFailure, c.Message, id}
		case isObserved && c.Reason == v1alpha1.ReasonProgressDeadlineExceeded:
			failure = &cause{v1alpha1.ReasonProgressDeadlineExceeded, c.Message, id}
		}
	}
	return failure
}
