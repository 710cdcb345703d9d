package stage

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/byhand/kit/testkit"
)

// Kind is the kind of a program in memory, if it is not Foo.
type Kind struct {
	testkit.Resource
	Sample *unstructured.Unstructured
}

// Users returns the resources of the user's objects.
func (s *Stage) Users() []string {
	if s.Judge.Foos() {
		return []string{"foos"}
	}
	return Names(slices.Collect(maps.Keys(s.Judge.Told.Users)))
}

// Resources returns the resources of the user's objects and of the program's.
func (s *Stage) Resources() []string {
	if s.Judge.Foos() {
		return []string{"foos", "deployments"}
	}
	return Names(s.Judge.Told.Resources())
}
