package main

import (
	"net/http"
	"slices"
	"strings"

	"example.com/byhand/internal/testkit"
)

// confined makes an API server look as if the namespace of one stage were all there is. So
// programs can be judged beside each other on one control plane: none sees another's Foos.
type confined struct {
	next  http.Handler
	stage *stage
}

// ServeHTTP implements http.Handler. A list or a watch of all namespaces becomes that of one,
// and every Lease is in the namespace for them.
func (c confined) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	t, path := testkit.TargetOf(r.URL.Path), r.URL.Path
	switch {
	case t.Resource == "leases" && t.Namespace != "":
		path = strings.Replace(path, "/namespaces/"+t.Namespace+"/", "/namespaces/"+c.stage.leases()+"/", 1)
	case r.Method == http.MethodGet && t.Namespace == "" && t.Name == "" && slices.Contains([]string{"foos", "deployments"}, t.Resource):
		path = strings.TrimSuffix(path, t.Resource) + "namespaces/" + c.stage.namespace + "/" + t.Resource
	}
	r = r.Clone(r.Context())
	r.URL.Path = path
	c.next.ServeHTTP(w, r)
}

// leases is the namespace of the Leases of a stage. It is another one, for a stage may delete its own.
func (s *stage) leases() string { return s.namespace + "-leases" }

// moveLease gives a Lease the namespace into which its request goes.
func (s *stage) moveLease(r *http.Request, object map[string]any) {
	if metadata, ok := object["metadata"].(map[string]any); ok && testkit.TargetOf(r.URL.Path).Resource == "leases" {
		metadata["namespace"] = s.leases()
	}
}
