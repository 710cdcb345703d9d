package main

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Mapper is the third registry, a RESTMapper: word → resource, with GVK, GVR and scope.
// It is a list, searched from the front. (client-go has five types, each wrapping the next:
// short names, deferred discovery, priority, union, and a table for each version.)
type Mapper struct {
	// Resources are in the server's order, see Discover.
	Resources []Resource
	// Stale lists the versions without a current response.
	Stale []schema.GroupVersion
}

// Find resolves a word: one resource, or the members of a category. If it matches resources
// of several groups, Find returns the first in the server's order as found, and the rest as
// others.
func (m Mapper) Find(word string) (found, others []Resource, err error) {
	for _, wanted := range readings(word) {
		// A group may be shortened: ingresses.networking. A full match comes first.
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
	// Categories come last: a CRD's author chooses them, and must not hide another resource's
	// name.
	if found = m.matching(func(r Resource) bool { return slices.Contains(r.Categories, word) }); len(found) > 0 {
		return found, nil, nil
	}
	return nil, nil, m.unknown(word)
}

// readings returns the ways to read a word with dots. A version looks like a part of a
// group: in foos.samplecontroller.k8s.io the group could be k8s.io, and samplecontroller
// its version. Only the server's list decides. A trailing dot means the group with the empty
// name: in pods.v1. v1 is the version, in pods.v1 the group.
func readings(word string) (all []schema.GroupVersionResource) {
	withVersion, withoutVersion := schema.ParseResourceArg(word)
	if withVersion != nil {
		all = append(all, *withVersion)
	}
	return append(all, withoutVersion.WithVersion(""))
}

func isGroup(group, wanted string) bool { return wanted == "" || wanted == group }

// byName, byShortName and byKind are tried in this order: a short name cannot hide another
// resource's name.
func byName(r Resource, word string) bool {
	word = strings.ToLower(word)
	return word == r.GVR.Resource || word != "" && word == r.SingularResource
}

func byShortName(r Resource, word string) bool { return slices.Contains(r.ShortNames, word) }

func byKind(r Resource, word string) bool {
	return word == r.GVK.Kind || word == strings.ToLower(r.GVK.Kind)
}

// matching returns the matching resources, each once: in the first version, which the server
// prefers.
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
	hint := "api-resources lists its words"
	if len(m.Stale) > 0 {
		hint += fmt.Sprintf(", except words of %v, whose servers do not respond", m.Stale)
	}
	return fmt.Errorf("the server has no resource %q: %s", word, hint)
}
