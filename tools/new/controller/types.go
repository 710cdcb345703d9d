package main

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Widget asks for a ConfigMap with the same name. config/crd.yaml has the same fields: a client
// drops fields that Go lacks, the API server drops fields that the schema lacks.
type Widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   WidgetSpec   `json:"spec"`
	Status WidgetStatus `json:"status,omitempty"`
}

// WidgetSpec is the state that users ask for. A field without omitempty is required.
type WidgetSpec struct {
	// Text is what the ConfigMap holds.
	Text string `json:"text"`
}

// WidgetStatus is the state that this program reports.
type WidgetStatus struct {
	// ObservedGeneration is the metadata.generation that the conditions were computed for.
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Conditions has one entry, Ready.
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// WidgetList is what a list request returns.
type WidgetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Widget `json:"items"`
}
