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

// TestKind compares all parts of the kind. If the group has two spellings, one of the two URLs returns 404.
func TestKind(t *testing.T) { parts.Test(t) }
