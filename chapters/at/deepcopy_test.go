package main

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/byhand/kit/deepcopy"
)

// What a client sends and receives is a runtime.Object.
var _, _ runtime.Object = &At{}, &AtList{}

// TestDeepCopy lets the core's tests loose on the kinds. A field that is added tomorrow is
// tested tomorrow.
func TestDeepCopy(t *testing.T) {
	scheme, version := runtime.NewScheme(), schema.GroupVersion{Group: "cnat.programming-kubernetes.info", Version: "v1alpha1"}
	scheme.AddKnownTypes(version, &At{}, &AtList{})
	metav1.AddToGroupVersion(scheme, version)
	deepcopy.EqualsOriginal(t, scheme)
	deepcopy.SharesNoMemory(t, scheme)
	deepcopy.KeepsNilAndEmpty(t, scheme)
	deepcopy.OfNil(t, scheme)
	deepcopy.RoundTrip(t, scheme)
}
