package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// groupVersion is spelled as in config/crd.yaml: a different group is a different URL.
var groupVersion = schema.GroupVersion{Group: "mine.example.com", Version: "v1alpha1"}

// resource is the plural, as URLs have it.
const resource = "widgets"

// kind is for owner references: a client clears apiVersion and kind of decoded objects.
var kind = groupVersion.WithKind("Widget")

// scheme says which Go type belongs to which kind. Only this program's clients use it: client-go's global
// scheme stays as it is.
var scheme = runtime.NewScheme()

func init() { utilruntime.Must(addToScheme(scheme)) }

// addToScheme registers the Go types of this group and version.
func addToScheme(scheme *runtime.Scheme) error {
	// Without the list no LIST can be decoded, without the second line no watch.
	scheme.AddKnownTypes(groupVersion, &Widget{}, &WidgetList{})
	metav1.AddToGroupVersion(scheme, groupVersion)
	return nil
}
