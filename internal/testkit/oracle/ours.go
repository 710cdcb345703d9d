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

// What our controller gives each Pod template. They are spelled out here, so that a change
// of the controller's own constants is noticed.
const (
	uidLabel  = "samplecontroller.k8s.io/foo-uid"
	container = "nginx"
	image     = "nginx:1.29"
)

// unkept returns the first promise of our controller that is not kept for a Foo with which
// nothing else is wrong.
func (n *namespace) unkept(foo *v1alpha1.Foo) string {
	named, ready, reason := n.named[foo.Spec.DeploymentName], metav1.ConditionFalse, v1alpha1.ReasonNameTaken
	switch {
	case !Possible(foo):
		reason = v1alpha1.ReasonInvalidSpec
	case ControllerOf(named) == foo.UID:
		ready, reason = metav1.ConditionTrue, v1alpha1.ReasonAvailable
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
	switch said := c.Message; {
	case reason == v1alpha1.ReasonNameTaken && !strings.Contains(said, whose(named)):
		return fmt.Sprintf("That %s, and condition Ready says %q.", whose(named), said)
	case reason == v1alpha1.ReasonAvailable && named.Spec.Template.Labels[uidLabel] != string(foo.UID):
		return fmt.Sprintf("The labels of its Pods, %v, lack the UID of the Foo.", named.Spec.Template.Labels)
	case reason == v1alpha1.ReasonAvailable && !slices.Contains(Images(named), container+"="+image):
		return fmt.Sprintf("It lacks the container %s=%s: %v", container, image, Images(named))
	}
	return ""
}

func whose(d *appsv1.Deployment) string {
	if owner := metav1.GetControllerOfNoCopy(d); owner != nil {
		return fmt.Sprintf("is controlled by %s %q", owner.Kind, owner.Name)
	}
	return "has no controller"
}
