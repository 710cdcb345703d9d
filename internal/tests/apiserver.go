// Package tests has what the tests of this repository share, and the tests of the whole program in its folders.
package tests

import (
	"io/fs"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"example.com/byhand/config"
	"example.com/byhand/kit/testkit"
)

// NewAPIServer returns an API server in memory that serves Foos, Projects and more.
func NewAPIServer(more ...testkit.Resource) *testkit.APIServer {
	return testkit.NewAPIServer(append(Resources(), more...)...)
}

// Resources returns Foos and Projects, as config/crd defines them.
func Resources() (all []testkit.Resource) {
	files, err := fs.Glob(config.CRDs, "crd/*.yaml")
	utilruntime.Must(err)
	for _, file := range files {
		text, err := config.CRDs.ReadFile(file)
		utilruntime.Must(err)
		resource, err := testkit.Custom(text)
		utilruntime.Must(err)
		all = append(all, resource)
	}
	return all
}
