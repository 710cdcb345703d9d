package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Project asks for a number of replicas. No controller acts on it: it is the smallest
// custom resource (an object of a kind that a CRD defines) that can be listed, watched
// and printed.
//
// TypeMeta holds apiVersion and kind, ObjectMeta holds metadata: name, namespace, labels,
// UID, resourceVersion and the rest. The tag `json:""` gives an embedded struct no name: its
// fields appear among the others. This is encoding/json's default; the tag makes it explicit.
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

// ProjectList is the reply to a list request. ListMeta has the list's resourceVersion, from which
// a watch goes on, and, if the list came in pages, where the next page begins.
type ProjectList struct {
	metav1.TypeMeta `json:""`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Project `json:"items"`
}
