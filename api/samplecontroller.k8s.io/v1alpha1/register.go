package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group, as the CustomResourceDefinition in config/crd
// spells it.
const GroupName = "samplecontroller.k8s.io"

// SchemeGroupVersion is the group and version of every kind in this package. It
// becomes apiVersion in an object and /apis/samplecontroller.k8s.io/v1alpha1 in
// a URL.
var SchemeGroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1alpha1"}

var (
	// SchemeBuilder collects the functions that fill a scheme.
	SchemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

	// AddToScheme registers this package's kinds with a scheme. Call it once per
	// scheme, before the scheme is used by more than one goroutine.
	AddToScheme = SchemeBuilder.AddToScheme
)

// Kind qualifies a kind of this group, for example "Foo".
func Kind(kind string) schema.GroupKind {
	return SchemeGroupVersion.WithKind(kind).GroupKind()
}

// Resource qualifies a resource (the plural in the URL) of this group, for
// example "foos".
func Resource(resource string) schema.GroupResource {
	return SchemeGroupVersion.WithResource(resource).GroupResource()
}

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(SchemeGroupVersion,
		&Foo{},
		&FooList{},
	)
	// The kinds that every group shares: Status, WatchEvent, DeleteOptions, …
	metav1.AddToGroupVersion(scheme, SchemeGroupVersion)
	return nil
}
