package oracle

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

// What our controller gives each Pod template. They are spelled out here, so that a change
// of the controller's own constants is noticed.
const (
	uidLabel  = "samplecontroller.k8s.io/foo-uid"
	container = "nginx"
	image     = "nginx:1.29"
)

// Reason returns the reason of the condition Ready of a Foo, given the Deployment of the name
// that it asks for, nil if there is none, and which Foos exist in its namespace. Refusals and failures
// apart, it depends on nothing else.
func Reason(foo *v1alpha1.Foo, named *appsv1.Deployment, exists func(name string, uid types.UID) bool) string {
	var owner *metav1.OwnerReference
	if named != nil {
		owner = metav1.GetControllerOfNoCopy(named)
	}
	switch {
	case !Possible(foo):
		return v1alpha1.ReasonInvalidSpec
	case named == nil:
		return v1alpha1.ReasonWaitingForReplicas
	case owner == nil, owner.UID != foo.UID && (owner.Kind != "Foo" || owner.APIVersion != v1alpha1.SchemeGroupVersion.String() || exists(owner.Name, owner.UID)):
		return v1alpha1.ReasonNameTaken
	case owner.UID != foo.UID, named.DeletionTimestamp != nil:
		return v1alpha1.ReasonWaitingForDeletion
	case missing(foo, named) != "", !complete(named):
		return v1alpha1.ReasonWaitingForReplicas
	}
	return v1alpha1.ReasonAvailable
}

// missing returns what a Deployment lacks of what the Foo that controls it asks for.
func missing(foo *v1alpha1.Foo, d *appsv1.Deployment) string {
	want := map[string]string{uidLabel: string(foo.UID)}
	switch {
	case !reflect.DeepEqual(*metav1.GetControllerOfNoCopy(d), metav1.OwnerReference{APIVersion: "samplecontroller.k8s.io/v1alpha1", Kind: "Foo", Name: foo.Name, UID: foo.UID, Controller: new(true), BlockOwnerDeletion: new(true)}):
		return fmt.Sprintf("Its owner references are %+v.", d.OwnerReferences)
	case d.Spec.Selector == nil || !reflect.DeepEqual(d.Spec.Selector.MatchLabels, want):
		return fmt.Sprintf("Its selector is %v.", d.Spec.Selector)
	case foo.Spec.Replicas != nil && Replicas(d) != *foo.Spec.Replicas:
		return fmt.Sprintf("It asks for %d replicas.", Replicas(d))
	case d.Spec.Template.Labels[uidLabel] != string(foo.UID):
		return fmt.Sprintf("The labels of its Pods, %v, lack the UID of the Foo.", d.Spec.Template.Labels)
	case !slices.Contains(Images(d), container+"="+image):
		return fmt.Sprintf("It lacks the container %s=%s: %v", container, image, Images(d))
	}
	return ""
}

// complete is the formula of the Deployment controller.
func complete(d *appsv1.Deployment) bool {
	is, wanted := d.Status, Replicas(d)
	return is.ObservedGeneration >= d.Generation && is.UpdatedReplicas == wanted && is.Replicas == wanted && is.AvailableReplicas == wanted
}

// unkept returns the first promise of our controller that is not kept for a Foo with which
// nothing else is wrong.
func (n *namespace) unkept(foo *v1alpha1.Foo) string {
	named, ready := n.named[foo.Spec.DeploymentName], metav1.ConditionFalse
	// When all has converged, each owner of a Deployment exists.
	reason := Reason(foo, named, func(string, types.UID) bool { return true })
	if Possible(foo) && ControllerOf(named) == foo.UID {
		ready = metav1.ConditionTrue
		if text := missing(foo, named); text != "" {
			return text
		}
	}
	status, generation := foo.Status, foo.Generation
	if status.ObservedGeneration != generation {
		return fmt.Sprintf("The status is of generation %d.", status.ObservedGeneration)
	}
	c := meta.FindStatusCondition(status.Conditions, v1alpha1.FooReady)
	if c == nil || c.ObservedGeneration != generation || c.Status != ready || c.Reason != reason {
		return fmt.Sprintf("Its condition Ready must be %s for %s of this generation, and is %+v.", ready, reason, c)
	}
	running := n.owned[foo.UID]
	if named != nil && ControllerOf(named) == foo.UID {
		running = []*appsv1.Deployment{named}
	}
	replicas, available := count(running)
	switch want := uidLabel + "=" + string(foo.UID); {
	case status.Selector != want:
		return fmt.Sprintf("The status says that the selector is %q, it is %q.", status.Selector, want)
	case status.Replicas != replicas || status.AvailableReplicas != available:
		return fmt.Sprintf("It has %d replicas, %d are available; the status says %d and %d.", replicas, available, status.Replicas, status.AvailableReplicas)
	}
	if reason == v1alpha1.ReasonNameTaken && !strings.Contains(c.Message, whose(named)) {
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
