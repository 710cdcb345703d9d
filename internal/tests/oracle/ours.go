package oracle

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

// The controller's Pod template. The values are repeated here, so that a changed constant in the
// controller is noticed.
const (
	uidLabel  = "samplecontroller.k8s.io/foo-uid"
	container = "nginx"
	image     = "nginx:1.29"
)

// Reason returns the reason of a Foo's condition Ready. named is the Deployment with the name in the spec, or nil.
// Except for rejections and failures, the reason depends on nothing else.
func Reason(foo *v1alpha1.Foo, named *appsv1.Deployment) string {
	var owner *metav1.OwnerReference
	if named != nil {
		owner = metav1.GetControllerOfNoCopy(named)
	}
	switch {
	case !Possible(foo):
		return v1alpha1.ReasonInvalidSpec
	case named == nil:
		return v1alpha1.ReasonWaitingForReplicas
	case named.DeletionTimestamp != nil:
		return v1alpha1.ReasonWaitingForDeletion
	case owner == nil || owner.UID != foo.UID: // When all has converged, each owner of a Deployment exists.
		return v1alpha1.ReasonNameTaken
	case Missing(foo, named) != "":
		return v1alpha1.ReasonWaitingForReplicas
	case Complete(named):
		return v1alpha1.ReasonAvailable
	case reported(named) != "":
		return reported(named)
	}
	return v1alpha1.ReasonWaitingForReplicas
}

// reported returns the reason that a Deployment gives why it makes no progress.
func reported(d *appsv1.Deployment) (reason string) {
	for _, c := range d.Status.Conditions {
		switch {
		case c.Reason == "ReplicaSetCreateError", c.Type == appsv1.DeploymentReplicaFailure && c.Status == "True":
			return v1alpha1.ReasonReplicaFailure
		case c.Reason == v1alpha1.ReasonProgressDeadlineExceeded:
			reason = c.Reason
		}
	}
	return reason
}

// Status returns the status of a Foo, refusals and failures apart, without times and messages.
func Status(foo *v1alpha1.Foo, named *appsv1.Deployment, owned []*appsv1.Deployment) v1alpha1.FooStatus {
	ready := metav1.Condition{Type: v1alpha1.FooReady, Status: metav1.ConditionFalse, Reason: Reason(foo, named), ObservedGeneration: foo.Generation}
	if ready.Reason == v1alpha1.ReasonAvailable {
		ready.Status = metav1.ConditionTrue
	}
	if named != nil && ControllerOf(named) == foo.UID {
		owned = []*appsv1.Deployment{named}
	}
	replicas, available := count(owned)
	return v1alpha1.FooStatus{Replicas: replicas, AvailableReplicas: available, ObservedGeneration: foo.Generation,
		Selector: uidLabel + "=" + string(foo.UID), Conditions: []metav1.Condition{ready}}
}

// Untrue describes the difference between a status and the result of Status. It ignores other
// conditions.
func Untrue(status, want v1alpha1.FooStatus) string {
	c, ready := meta.FindStatusCondition(status.Conditions, v1alpha1.FooReady), want.Conditions[0]
	switch {
	case status.ObservedGeneration != want.ObservedGeneration:
		return fmt.Sprintf("The status is of generation %d.", status.ObservedGeneration)
	case c == nil || c.ObservedGeneration != ready.ObservedGeneration || c.Status != ready.Status || c.Reason != ready.Reason:
		return fmt.Sprintf("Its condition Ready must be %s for %s of this generation, and is %+v.", ready.Status, ready.Reason, c)
	case status.Selector != want.Selector:
		return fmt.Sprintf("The status says that the selector is %q, it is %q.", status.Selector, want.Selector)
	case status.Replicas != want.Replicas || status.AvailableReplicas != want.AvailableReplicas:
		return fmt.Sprintf("It has %d replicas, %d are available; the status says %d and %d.", want.Replicas, want.AvailableReplicas, status.Replicas, status.AvailableReplicas)
	}
	return ""
}

// Missing describes the first difference between a Deployment and the spec of its Foo.
func Missing(foo *v1alpha1.Foo, d *appsv1.Deployment) string {
	switch {
	case foo.Spec.Replicas != nil && Replicas(d) != *foo.Spec.Replicas:
		return fmt.Sprintf("It asks for %d replicas.", Replicas(d))
	case !slices.Contains(Images(d), container+"="+image):
		return fmt.Sprintf("It lacks the container %s=%s: %v", container, image, Images(d))
	}
	return ""
}

// Complete is the formula of the Deployment controller.
func Complete(d *appsv1.Deployment) bool {
	is, wanted := d.Status, Replicas(d)
	return is.ObservedGeneration >= d.Generation && is.UpdatedReplicas == wanted && is.Replicas == wanted && is.AvailableReplicas == wanted
}

// unkept returns the first promise of our controller that is not kept for a Foo with which
// nothing else is wrong.
func (n *namespace) unkept(foo *v1alpha1.Foo) string {
	named := n.named[foo.Spec.DeploymentName]
	if Possible(foo) && ControllerOf(named) == foo.UID {
		if text := Missing(foo, named); text != "" {
			return text
		}
	}
	want := Status(foo, named, n.owned[foo.UID])
	if text := Untrue(foo.Status, want); text != "" {
		return text
	}
	c := meta.FindStatusCondition(foo.Status.Conditions, v1alpha1.FooReady)
	if c.Reason == v1alpha1.ReasonNameTaken && !strings.Contains(c.Message, whose(named)) {
		return fmt.Sprintf("That %s, and condition Ready says %q.", whose(named), c.Message)
	}
	return ""
}

func whose(d *appsv1.Deployment) string {
	if owner := metav1.GetControllerOfNoCopy(d); owner != nil {
		return fmt.Sprintf("is controlled by %s %q", owner.Kind, owner.Name)
	}
	return "has no controller"
}
