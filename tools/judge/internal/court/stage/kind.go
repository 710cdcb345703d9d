package stage

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/byhand/kit/testkit"
)

// Kind is the kind of a program in memory, if it is not Foo. The judge learns the right results from a run
// without a fault.
type Kind struct {
	testkit.Resource
	Sample *unstructured.Unstructured
	// Made are the paths of the objects that the program makes for an object a in a namespace NAMESPACE, and
	// Labels their labels. Begun and Changed are all stored objects after the script's first part and at its
	// end.
	Made           []string
	Labels         []map[string]string
	Begun, Changed string
}

// Made returns the paths of the stored objects whose resources are not in Ours.
func (s *Stage) Made() (paths []string) {
	for _, c := range s.Api.History() {
		if s.Api.Get(c.Path) != nil && !slices.Contains(s.Ours(), testkit.TargetOf(c.Path).Resource) {
			paths = append(paths, c.Path)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// Users returns the resources of the user's objects.
func (s *Stage) Users() []string {
	switch j := s.Judge; {
	case j.Told != nil:
		return Names(slices.Collect(maps.Keys(j.Told.Users)))
	case j.Kind != nil:
		return []string{j.Kind.Plural}
	default:
		return []string{"foos"}
	}
}

// Ours returns the resources of which the program makes no objects.
func (s *Stage) Ours() []string { return append(s.Users(), "namespaces", "events", "leases") }

// Resources returns the resources of the user's objects and of the program's.
func (s *Stage) Resources() (all []string) {
	switch {
	case s.Judge.Told != nil:
		return Names(s.Judge.Told.Resources())
	case s.Judge.Kind == nil:
		return []string{"foos", "deployments"}
	}
	for _, path := range s.Judge.Kind.Made {
		all = append(all, testkit.TargetOf(path).Resource)
	}
	return append(all, s.Judge.Kind.Plural)
}
