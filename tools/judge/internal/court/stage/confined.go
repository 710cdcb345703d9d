package stage

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/byhand/kit/testkit"
)

// confine limits the program to the namespace of its stage, so that programs can run in parallel without
// seeing each other's Foos. A list or watch of all namespaces becomes one of this namespace. Leases move to a
// separate namespace, like the ConfigMaps with which older versions of controller-runtime elect a leader.
func (s *Stage) confine(server http.Handler) {
	s.Proxy.Next = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t := testkit.TargetOf(r.URL.Path)
		r = r.Clone(r.Context())
		if s.Judge.Told != nil && t.Namespace != s.leases() { // Only Mutate moves objects there.
			s.Judge.Told.hear(r)
		}
		switch {
		case t.Namespace != "" && s.Judge.isLock(t):
			s.moveLock(r, t)
		case r.Method == http.MethodGet && t.Namespace == "" && t.Name == "" && s.isConfined(t):
			r.URL.Path = strings.TrimSuffix(r.URL.Path, t.Resource) + "namespaces/" + s.Namespace + "/" + t.Resource
		}
		server.ServeHTTP(w, r)
	})
	s.Proxy.Mutate(func(r *http.Request, object map[string]any) {
		t := testkit.TargetOf(r.URL.Path)
		metadata, _ := object["metadata"].(map[string]any)
		annotations, _ := metadata["annotations"].(map[string]any)
		switch {
		case metadata == nil:
		case annotations[leaderAnnotation] != nil && t.Resource == "configmaps":
			s.Judge.locks.Store(fmt.Sprint(t.Namespace, " ", metadata["name"]), true)
			s.moveLock(r, t)
			metadata["namespace"] = s.leases()
		case t.Resource == "leases":
			metadata["namespace"] = s.leases()
		}
	})
}

// leaderAnnotation marks an object that elects a leader and is no Lease.
const leaderAnnotation = "control-plane.alpha.kubernetes.io/leader"

// Spared reports whether a request meets no fault and does not count as a write. Locks are spared, because a
// program that loses its lock has to exit. So are access reviews, which the API server does not store.
func (j *Judge) Spared(t testkit.Target) bool {
	return j.isLock(t) || t.Group == "authorization.k8s.io" || t.Group == "authentication.k8s.io"
}

// isLock reports whether a request is about a Lease, or a ConfigMap that elects a leader. A write with
// leaderAnnotation has shown that.
func (j *Judge) isLock(t testkit.Target) bool {
	_, elects := j.locks.Load(t.Namespace + " " + t.Name)
	return t.Resource == "leases" || t.Resource == "configmaps" && elects
}

// moveLock redirects a request about a lock to the namespace for Leases.
func (s *Stage) moveLock(r *http.Request, t testkit.Target) {
	r.URL.Path = strings.Replace(r.URL.Path, "/namespaces/"+t.Namespace+"/", "/namespaces/"+s.leases()+"/", 1)
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
