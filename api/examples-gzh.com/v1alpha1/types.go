package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Project is a namespaced object that asks for a number of replicas. No
// controller acts on it: it is the smallest custom resource that can be listed,
// watched and printed.
type Project struct {
	metav1.TypeMeta   `json:""`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec ProjectSpec `json:"spec"`
}

// ProjectSpec is what the owner of a Project asks for.
type ProjectSpec struct {
	// Replicas is the wanted number of replicas, at least 1. The schema in
	// config/crd requires it.
	Replicas int32 `json:"replicas"`
}

// ProjectList is the reply to a list request.
type ProjectList struct {
	metav1.TypeMeta `json:""`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Project `json:"items"`
}
