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

// ProjectSpec is the desired state of a Project.
type ProjectSpec struct {
	// Replicas is the desired number of replicas, at least 1. The schema in
	// config/crd requires it.
	Replicas int32 `json:"replicas"`
}

// ProjectList is the response to a list request. ListMeta has the resourceVersion from which a
// watch continues. For a paged list, it also has the token of the next page.
type ProjectList struct {
	metav1.TypeMeta `json:""`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Project `json:"items"`
}
