package main

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestRegister: the names in Go are those of the CRD. A group that is spelled in two ways is
// two URLs, and one of them is 404.
func TestRegister(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	definition := readCRD(t)
	version := schema.GroupVersion{Group: definition.Spec.Group, Version: definition.Spec.Versions[0].Name}
	names := definition.Spec.Names
	for kind, object := range map[string]runtime.Object{names.Kind: &At{}, names.ListKind: &AtList{}} {
		got, _, err := scheme.ObjectKinds(object)
		if want := version.WithKind(kind); err != nil || got[0] != want {
			t.Errorf("%T is %v in the scheme (%v), want %v", object, got, err, want)
		}
	}
	if want := names.Plural + "." + version.Group; definition.Metadata.Name != want {
		t.Errorf("the CRD's name is %s, want %s", definition.Metadata.Name, want)
	}
	// A watch of this group brings the errors that every group shares.
	if !scheme.Recognizes(SchemeGroupVersion.WithKind("WatchEvent")) {
		t.Error("no WatchEvent: AddToGroupVersion is missing")
	}
}
