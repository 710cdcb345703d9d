package court

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/byhand/kit/testkit"
)

// confine makes the program see an API server on which the namespace of its stage is all there
// is, so that programs can be judged beside each other: none sees another's Foos. A list or a
// watch of all namespaces becomes that of one. All Leases move into a namespace for them, and so do the
// ConfigMaps with which older versions of controller-runtime elect a leader.
func (s *stage) confine(server http.Handler) {
	s.proxy.Next = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t := testkit.TargetOf(r.URL.Path)
		r = r.Clone(r.Context())
		if s.judge.told != nil && t.Namespace != s.leases() { // There is only what Mutate moved.
			s.judge.told.hear(r)
		}
		switch {
		case t.Namespace != "" && s.judge.isLock(t):
			s.moveLock(r, t)
		case r.Method == http.MethodGet && t.Namespace == "" && t.Name == "" && s.isConfined(t):
			r.URL.Path = strings.TrimSuffix(r.URL.Path, t.Resource) + "namespaces/" + s.namespace + "/" + t.Resource
		}
		server.ServeHTTP(w, r)
	})
	s.proxy.Mutate(func(r *http.Request, object map[string]any) {
		t := testkit.TargetOf(r.URL.Path)
		metadata, _ := object["metadata"].(map[string]any)
		annotations, _ := metadata["annotations"].(map[string]any)
		switch {
		case metadata == nil:
		case annotations[leaderAnnotation] != nil && t.Resource == "configmaps":
			s.judge.locks.Store(fmt.Sprint(t.Namespace, " ", metadata["name"]), true)
			s.moveLock(r, t)
			metadata["namespace"] = s.leases()
		case t.Resource == "leases":
			metadata["namespace"] = s.leases()
		}
	})
}

// leaderAnnotation is on what is no Lease, and elects a leader all the same.
const leaderAnnotation = "control-plane.alpha.kubernetes.io/leader"

// isLock reports whether a request is about a Lease, or a ConfigMap that elects a leader: that has shown when the program
// created it.
func (j *judge) isLock(t testkit.Target) bool {
	_, elects := j.locks.Load(t.Namespace + " " + t.Name)
	return t.Resource == "leases" || t.Resource == "configmaps" && elects
}

// moveLock moves a request about a lock into the namespace for Leases.
func (s *stage) moveLock(r *http.Request, t testkit.Target) {
	r.URL.Path = strings.Replace(r.URL.Path, "/namespaces/"+t.Namespace+"/", "/namespaces/"+s.leases()+"/", 1)
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
