package stage

import (
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/byhand/kit/testkit"
)

// confine limits the program to the namespace of its stage, so that programs can run in parallel without
// seeing each other's Foos. A list or watch of all namespaces becomes one of this namespace. Leases move to a
// separate namespace.
func (s *Stage) confine(server http.Handler) {
	s.Proxy.Next = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t := testkit.TargetOf(r.URL.Path)
		r = r.Clone(r.Context())
		if s.Judge.Told != nil {
			s.Judge.Told.hear(r)
		}
		switch {
		case t.Namespace != "" && t.Resource == "leases":
			r.URL.Path = strings.Replace(r.URL.Path, "/namespaces/"+t.Namespace+"/", "/namespaces/"+s.leases()+"/", 1)
		case r.Method == http.MethodGet && t.Namespace == "" && t.Name == "" && s.isConfined(t):
			r.URL.Path = strings.TrimSuffix(r.URL.Path, t.Resource) + "namespaces/" + s.Namespace + "/" + t.Resource
		}
		server.ServeHTTP(w, r)
	})
	s.Proxy.Mutate(func(r *http.Request, object map[string]any) {
		if change := s.change.Load(); change != nil {
			(*change)(r, object)
		}
		if metadata, _ := object["metadata"].(map[string]any); metadata != nil && testkit.TargetOf(r.URL.Path).Resource == "leases" {
			metadata["namespace"] = s.leases()
		}
	})
}

// Mutate calls change with each object that the program creates or updates, as a mutating webhook does.
// change may be nil.
func (s *Stage) Mutate(change func(r *http.Request, object Object)) {
	s.change.Store(nil)
	if change != nil {
		s.change.Store(&change)
	}
}

// Spared reports whether a request meets no fault and does not count as a write. Leases are spared, because a
// program that loses its lock has to exit. So are access reviews, which the API server does not store.
func Spared(t testkit.Target) bool {
	return t.Resource == "leases" || t.Group == "authorization.k8s.io" || t.Group == "authentication.k8s.io"
}

// isConfined reports whether the program sees only its namespace's objects of a resource.
func (s *Stage) isConfined(t testkit.Target) bool {
	if s.Judge.Told != nil {
		return s.Judge.Told.Namespaced[schema.GroupResource{Group: t.Group, Resource: t.Resource}]
	}
	return slices.Contains([]string{"foos", "deployments"}, t.Resource)
}

// leases returns the namespace for Leases. It is separate, because a scenario may delete its own namespace.
func (s *Stage) leases() string { return s.Namespace + "-leases" }
