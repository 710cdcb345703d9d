package controller

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

// statusOf is the status of a Foo whose Deployment is as it should be.
func statusOf(foo *v1alpha1.Foo, deployment *appsv1.Deployment) v1alpha1.FooStatus {
	available, wanted := deployment.Status.AvailableReplicas, int32(1)
	if deployment.Spec.Replicas != nil {
		wanted = *deployment.Spec.Replicas
	}
	message := fmt.Sprintf("%d of %d replicas are available", available, wanted)
	// Until the Deployment's controller has seen the newest spec, its numbers speak
	// of an older one.
	if available >= wanted && deployment.Status.ObservedGeneration >= deployment.Generation {
		return newStatus(foo, deployment, available, metav1.ConditionTrue, metav1.ConditionFalse, v1alpha1.ReasonAvailable, message)
	}
	return newStatus(foo, deployment, available, metav1.ConditionFalse, metav1.ConditionTrue, v1alpha1.ReasonWaitingForReplicas, message)
}

// waitingStatus is the status of a Foo that waits for a Deployment to go.
func waitingStatus(foo *v1alpha1.Foo, deployment *appsv1.Deployment) v1alpha1.FooStatus {
	message := fmt.Sprintf("Deployment %q is being deleted, a new one will follow", foo.Spec.DeploymentName)
	return newStatus(foo, deployment, 0, metav1.ConditionFalse, metav1.ConditionTrue, v1alpha1.ReasonWaitingForDeletion, message)
}

// takenStatus is the status of a Foo that names somebody else's Deployment.
func takenStatus(foo *v1alpha1.Foo, deployment *appsv1.Deployment) v1alpha1.FooStatus {
	whose := "has no controller"
	if controller := metav1.GetControllerOfNoCopy(deployment); controller != nil {
		whose = fmt.Sprintf("is controlled by %s %q", controller.Kind, controller.Name)
	}
	message := fmt.Sprintf("Deployment %q exists and %s: delete it or change spec.deploymentName", deployment.Name, whose)
	return newStatus(foo, deployment, 0, metav1.ConditionFalse, metav1.ConditionFalse, v1alpha1.ReasonNameTaken, message)
}

// invalidStatus is the status of a Foo whose spec makes no Deployment.
func invalidStatus(foo *v1alpha1.Foo, problem string) v1alpha1.FooStatus {
	return newStatus(foo, nil, 0, metav1.ConditionFalse, metav1.ConditionFalse, v1alpha1.ReasonInvalidSpec, problem)
}

// forbiddenStatus is the status of a Foo whose Deployment the API server forbids
// to write. The first answer stays in it: the next may differ in a number, and a
// status that changes with each try wakes its own Foo each time.
func forbiddenStatus(foo *v1alpha1.Foo, err error) v1alpha1.FooStatus {
	message := err.Error()
	if before := stuck(foo.Status); before != nil && before.Reason == v1alpha1.ReasonForbidden && before.ObservedGeneration == foo.Generation {
		message = before.Message
	}
	status := newStatus(foo, nil, foo.Status.AvailableReplicas, metav1.ConditionFalse, metav1.ConditionFalse, v1alpha1.ReasonForbidden, message)
	// The number stays, and so does what it was taken from.
	status.ObservedDeploymentVersion = foo.Status.ObservedDeploymentVersion
	return status
}

// newStatus is the Foo's status with these facts in it. It shares nothing with
// the Foo, and equals the Foo's own status if nothing has changed: a condition
// keeps its transition time while its status stays the same, and the version of the
// Deployment, if the status speaks of one, is noted only along with something else.
func newStatus(foo *v1alpha1.Foo, deployment *appsv1.Deployment, available int32, ready, progressing metav1.ConditionStatus, reason, message string) v1alpha1.FooStatus {
	status := *foo.Status.DeepCopy()
	status.AvailableReplicas = available
	status.ObservedGeneration = foo.Generation
	status.Selector = labels.SelectorFromSet(podLabels(foo)).String()
	condition := metav1.Condition{ObservedGeneration: foo.Generation, Reason: reason, Message: message}
	condition.Type, condition.Status = v1alpha1.FooReady, ready
	meta.SetStatusCondition(&status.Conditions, condition)
	condition.Type, condition.Status = v1alpha1.FooProgressing, progressing
	meta.SetStatusCondition(&status.Conditions, condition)
	switch {
	case deployment == nil:
		status.ObservedDeploymentVersion = ""
	case statusAhead(foo, deployment) || !equality.Semantic.DeepEqual(status, foo.Status):
		status.ObservedDeploymentVersion = deployment.ResourceVersion
	}
	return status
}

// stuck returns the Ready condition of a status that waits for a person, and nil
// of any other.
func stuck(status v1alpha1.FooStatus) *metav1.Condition {
	if meta.IsStatusConditionTrue(status.Conditions, v1alpha1.FooProgressing) {
		return nil
	}
	if ready := meta.FindStatusCondition(status.Conditions, v1alpha1.FooReady); ready != nil && ready.Status == metav1.ConditionFalse {
		return ready
	}
	return nil
}

// same reports whether two conditions, of which before may be nil, tell a person
// the same.
func same(now, before *metav1.Condition) bool {
	return before != nil && now.Reason == before.Reason && now.Message == before.Message
}
