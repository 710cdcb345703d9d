package stage

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/byhand/kit/testkit"
)

// Kind is what a program in memory is about, if that is no Foo. What it makes of an object the judge
// learns from the run without a fault: what is right it does not know.
type Kind struct {
	testkit.Resource
	Sample *unstructured.Unstructured
	// Made are the paths of what the program makes for an object a, in a namespace NAMESPACE, and labels
	// what it labels each with. begun and changed are all that is stored when the script has begun, and at
	// its end.
	Made           []string
	Labels         []map[string]string
	Begun, Changed string
}

// Made returns the paths of what is stored besides objects of the kind.
func (s *Stage) Made() (paths []string) {
	for _, c := range s.Api.History() {
		if s.Api.Get(c.Path) != nil && !slices.Contains(s.Ours(), testkit.TargetOf(c.Path).Resource) {
			paths = append(paths, c.Path)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// Users are the resources of the user's objects.
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

// Ours are the resources of which the program makes none.
func (s *Stage) Ours() []string { return append(s.Users(), "namespaces", "events", "leases") }

// Resources are those of the objects that the program makes, and its kind.
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
