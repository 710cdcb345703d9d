package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group, as the CustomResourceDefinition in config/crd
// spells it.
const GroupName = "examples-gzh.com"

// SchemeGroupVersion is the group and version of every kind in this package. It
// becomes apiVersion in an object and /apis/examples-gzh.com/v1alpha1 in a URL.
var SchemeGroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1alpha1"}

var (
	// SchemeBuilder collects the functions that fill a scheme.
	SchemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

	// AddToScheme registers this package's kinds with a scheme. Call it once per
	// scheme, before the scheme is used by more than one goroutine.
	AddToScheme = SchemeBuilder.AddToScheme
)

// Kind qualifies a kind of this group, for example "Project".
func Kind(kind string) schema.GroupKind {
	return SchemeGroupVersion.WithKind(kind).GroupKind()
}

// Resource qualifies a resource (the plural in the URL) of this group, for
// example "projects".
func Resource(resource string) schema.GroupResource {
	return SchemeGroupVersion.WithResource(resource).GroupResource()
}

func addKnownTypes(scheme *runtime.Scheme) error {
	// The kind is the name of the Go type. A list is a kind, too.
	scheme.AddKnownTypes(SchemeGroupVersion,
		&Project{},
		&ProjectList{},
	)
	// The kinds that every group shares: Status, WatchEvent, DeleteOptions, … Without them errors
	// do not decode: the server's message is lost, and an expired watch (410) looks like an internal
	// error (500).
	metav1.AddToGroupVersion(scheme, SchemeGroupVersion)
	return nil
}
