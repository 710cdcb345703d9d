package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// SchemeGroupVersion is At's group and version. The CustomResourceDefinition in config/crd
// must use the same spelling: it becomes part of the URL.
var SchemeGroupVersion = schema.GroupVersion{Group: "cnat.programming-kubernetes.info", Version: "v1alpha1"}

// atKind is for owner references: a client clears apiVersion and kind of decoded objects.
var atKind = SchemeGroupVersion.WithKind("At")

// AddToScheme registers the Go types with a scheme. AtList is needed to decode a LIST,
// AddToGroupVersion for watches and options.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(SchemeGroupVersion, &At{}, &AtList{})
	metav1.AddToGroupVersion(scheme, SchemeGroupVersion)
	return nil
}
