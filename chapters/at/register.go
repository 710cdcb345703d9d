package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// SchemeGroupVersion is the group and the version of At. The CustomResourceDefinition in
// config/crd must spell them alike: another group is another URL.
var SchemeGroupVersion = schema.GroupVersion{Group: "cnat.programming-kubernetes.info", Version: "v1alpha1"}

// atKind is for owner references: a client clears apiVersion and kind of what it decodes.
var atKind = SchemeGroupVersion.WithKind("At")

// AddToScheme tells a scheme which Go type belongs to which kind. Without the list, a LIST
// cannot be decoded; without AddToGroupVersion, no watch and no options.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(SchemeGroupVersion, &At{}, &AtList{})
	metav1.AddToGroupVersion(scheme, SchemeGroupVersion)
	return nil
}
