package testkit

import (
	"net/http"
	"path"
	"strings"
)

// Target is the object of a request, or the collection if Name is "". It is the zero Target for a request
// about neither, such as /version or /apis.
type Target struct{ Group, Version, Resource, Namespace, Name, Subresource string }

// String returns resource[/name[/subresource]], such as "foos/foo/status".
func (t Target) String() string { return path.Join(t.Resource, t.Name, t.Subresource) }

// TargetOf splits a path such as /apis/apps/v1/namespaces/default/deployments/one/scale.
func TargetOf(path string) (t Target) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case parts[0] == "api" && len(parts) > 2: // /api/v1
		t.Version, parts = parts[1], parts[2:]
	case parts[0] == "apis" && len(parts) > 3: // /apis/apps/v1
		t.Group, t.Version, parts = parts[1], parts[2], parts[3:]
	default:
		return Target{}
	}
	// A Namespace has two subresources. All else after its name is in it.
	if parts[0] == "namespaces" && len(parts) > 2 && parts[2] != "status" && parts[2] != "finalize" {
		t.Namespace, parts = parts[1], parts[2:]
	}
	parts = append(parts, "", "")
	t.Resource, t.Name, t.Subresource = parts[0], parts[1], parts[2]
	return t
}

// IsWatch reports whether a request opens a watch: the real API server reads any value but false and 0 as true.
func IsWatch(r *http.Request) bool {
	query := r.URL.Query()
	watch := strings.ToLower(query.Get("watch"))
	return r.Method == http.MethodGet && query.Has("watch") && watch != "false" && watch != "0"
}
