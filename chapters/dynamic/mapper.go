package main

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Mapper is the third registry, a RESTMapper: word → resource, which has GVK, GVR and scope.
// It is a list, searched from the front. (In client-go it is five types, each around the
// next: short names, deferred discovery, priority, union, and a table for each version.)
type Mapper struct {
	// Resources are in the server's order, see Discover.
	Resources []Resource
	// Stale are the versions that discovery could not ask for.
	Stale []schema.GroupVersion
}

// Find returns what a word means: one resource, or the members of a category. If the word
// fits resources of several groups it takes the first in the server's order, and returns
// the others apart.
func (m Mapper) Find(word string) (found, others []Resource, err error) {
	for _, wanted := range readings(word) {
		// A group may be shortened: ingresses.networking. A whole one goes first.
		for _, inGroup := range []func(group, wanted string) bool{isGroup, strings.HasPrefix} {
			for _, isCalled := range []func(Resource, string) bool{byName, byShortName, byKind} {
				found = m.matching(func(r Resource) bool {
					return isCalled(r, wanted.Resource) && inGroup(r.GVR.Group, wanted.Group) &&
						(wanted.Version == "" || wanted.Version == r.GVR.Version)
				})
				if len(found) > 0 {
					return found[:1], found[1:], nil
				}
			}
		}
	}
	// Last: the author of a CRD chooses its categories, and must not take the name of another
	// resource.
	if found = m.matching(func(r Resource) bool { return slices.Contains(r.Categories, word) }); len(found) > 0 {
		return found, nil, nil
	}
	return nil, nil, m.unknown(word)
}

// readings returns the ways to read a word with dots. A version looks like a part of a
// group: in foos.samplecontroller.k8s.io the group could be k8s.io, and samplecontroller
// its version. Only the server's list tells. A dot at the end stands for the group without
// a name: pods.v1. with it is a version, pods.v1 without it a group.
func readings(word string) (all []schema.GroupVersionResource) {
	withVersion, withoutVersion := schema.ParseResourceArg(word)
	if withVersion != nil {
		all = append(all, *withVersion)
	}
	return append(all, withoutVersion.WithVersion(""))
}

func isGroup(group, wanted string) bool { return wanted == "" || wanted == group }

// byName, byShortName and byKind are tried in this order: no short name hides the name of
// another resource.
func byName(r Resource, word string) bool {
	word = strings.ToLower(word)
	return word == r.GVR.Resource || word != "" && word == r.SingularResource
}

func byShortName(r Resource, word string) bool { return slices.Contains(r.ShortNames, word) }

func byKind(r Resource, word string) bool {
	return word == r.GVK.Kind || word == strings.ToLower(r.GVK.Kind)
}

// matching returns the resources that match, each once: in the version that comes first,
// which is the one that the server prefers.
func (m Mapper) matching(matches func(Resource) bool) (found []Resource) {
	seen := map[schema.GroupResource]bool{}
	for _, r := range m.Resources {
		if matches(r) && !seen[r.GVR.GroupResource()] {
			seen[r.GVR.GroupResource()] = true
			found = append(found, r)
		}
	}
	return found
}

func (m Mapper) unknown(word string) error {
	hint := "api-resources lists the words that it has"
	if len(m.Stale) > 0 {
		hint += fmt.Sprintf(", except those of %v, which do not answer at the moment", m.Stale)
	}
	return fmt.Errorf("the server has no resource %q: %s", word, hint)
}
