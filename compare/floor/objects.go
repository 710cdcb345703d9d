package main

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

// Field by field what byhand writes for a new Foo, so that the API server has the
// same work. The test in ../peers compares the two.

// newDeployment is the Deployment of a Foo.
func newDeployment(foo *v1alpha1.Foo) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{
			Name:            foo.Spec.DeploymentName,
			Namespace:       foo.Namespace,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(foo, v1alpha1.SchemeGroupVersion.WithKind("Foo"))},
		},
		Spec: appsv1.DeploymentSpec{
			Replicas: foo.Spec.Replicas,
			Selector: &metav1.LabelSelector{MatchLabels: podLabels(foo)},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: podLabels(foo)},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "nginx", Image: "nginx:1.29"}}},
			},
		},
	}
}

// newStatus is the status of a Foo whose Deployment has just been created.
func newStatus(foo *v1alpha1.Foo, deployment *appsv1.Deployment) v1alpha1.FooStatus {
	status := v1alpha1.FooStatus{
		ObservedGeneration: foo.Generation,
		Selector:           labels.SelectorFromSet(podLabels(foo)).String(),
	}
	meta.SetStatusCondition(&status.Conditions, metav1.Condition{
		Type:               v1alpha1.FooReady,
		Status:             metav1.ConditionFalse,
		ObservedGeneration: foo.Generation,
		Reason:             v1alpha1.ReasonWaitingForReplicas,
		Message:            fmt.Sprintf("0 of %d replicas are available", *deployment.Spec.Replicas),
	})
	return status
}

func podLabels(foo *v1alpha1.Foo) map[string]string {
	return map[string]string{v1alpha1.GroupName + "/foo-uid": string(foo.UID)}
}
