// Package tests has what the tests of this repository share, and the tests of the whole program in its folders.
package tests

import (
	examplesv1alpha1 "example.com/byhand/api/examples-gzh.com/v1alpha1"
	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/kit/testkit"
)

// NewAPIServer returns an API server in memory that serves Foos, Projects and more.
func NewAPIServer(more ...testkit.Resource) *testkit.APIServer {
	return testkit.NewAPIServer(append(more, Resources()...)...)
}

// Resources returns Projects and Foos as config/crd defines them, without their schemas: the core's tests
// and the browser tab are small without package crd. TestResources of folder schema compares them with config/crd.
func Resources() []testkit.Resource {
	return []testkit.Resource{
		{GroupVersionKind: examplesv1alpha1.SchemeGroupVersion.WithKind("Project"), Plural: "projects", ShortNames: []string{"proj"},
			Categories: []string{"byhand"}, Generation: true},
		{GroupVersionKind: v1alpha1.SchemeGroupVersion.WithKind("Foo"), Plural: "foos", ShortNames: []string{"fo"},
			Categories: []string{"byhand"}, Generation: true, Status: true,
			Scale: &testkit.Scale{Replicas: ".spec.replicas", StatusReplicas: ".status.replicas", Selector: ".status.selector"}},
	}
}
