package main

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"example.com/byhand/kit/check"
)

var parts = check.Kind{Scheme: registered(), Plural: "ats",
	CRD: "config/crd/ats.cnat.programming-kubernetes.info.yaml", Sample: "config/samples/example-at.yaml"}

func registered() *runtime.Scheme {
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		panic(err)
	}
	return scheme
}

// TestKind compares all parts of the kind. A group with two spellings is two URLs, and one of them is 404.
func TestKind(t *testing.T) { parts.Test(t) }
