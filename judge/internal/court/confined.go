package court

import (
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/byhand/kit/testkit"
)

// confine makes the program see an API server on which the namespace of its stage is all there
// is, so that programs can be judged beside each other: none sees another's Foos. A list or a
// watch of all namespaces becomes that of one. All Leases move into a namespace for them.
func (s *stage) confine(server http.Handler) {
	s.proxy.Next = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t := testkit.TargetOf(r.URL.Path)
		r = r.Clone(r.Context())
		if s.judge.told != nil {
			s.judge.told.hear(r)
		}
		switch {
		case t.Resource == "leases" && t.Namespace != "":
			r.URL.Path = strings.Replace(r.URL.Path, "/namespaces/"+t.Namespace+"/", "/namespaces/"+s.leases()+"/", 1)
		case r.Method == http.MethodGet && t.Namespace == "" && t.Name == "" && s.isConfined(t):
			r.URL.Path = strings.TrimSuffix(r.URL.Path, t.Resource) + "namespaces/" + s.namespace + "/" + t.Resource
		}
		server.ServeHTTP(w, r)
	})
	s.proxy.Mutate(func(r *http.Request, object map[string]any) {
		if metadata, ok := object["metadata"].(map[string]any); ok && testkit.TargetOf(r.URL.Path).Resource == "leases" {
			metadata["namespace"] = s.leases()
		}
		if s.judge.told != nil && r.Method == http.MethodPost {
			s.judge.told.send(r, object)
		}
	})
}

// isConfined reports whether the program sees the objects of its namespace only.
func (s *stage) isConfined(t testkit.Target) bool {
	if s.judge.told != nil {
		return s.judge.told.namespaced[schema.GroupResource{Group: t.Group, Resource: t.Resource}]
	}
	return slices.Contains([]string{"foos", "deployments"}, t.Resource)
}

// leases is the namespace of the Leases. It is another one, for a scenario may delete its own.
func (s *stage) leases() string { return s.namespace + "-leases" }
