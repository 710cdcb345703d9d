package main

import (
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// request is what a client asks for: the verb, as RBAC knows it, and the place.
type request struct {
	*http.Request
	user user
	verb string
	// version and kind are empty for what is no resource: discovery and OpenAPI.
	version                      string
	kind                         *kind
	namespace, name, subresource string
}

// parse reads a method and a URL:
//
//	/apis/GROUP/VERSION/RESOURCE[/NAME[/SUBRESOURCE]]
//	/apis/GROUP/VERSION/namespaces/NAMESPACE/RESOURCE[/NAME[/SUBRESOURCE]]
//
// Every other path is no resource. The verb of such a request is its method.
func parse(r *http.Request) *request {
	out := &request{Request: r, verb: strings.ToLower(r.Method)}
	rest, ok := strings.CutPrefix(r.URL.Path, "/apis/"+group+"/")
	version, rest, found := strings.Cut(rest, "/")
	if !ok || !found || !slices.Contains(versions, version) {
		return out
	}
	parts := strings.Split(rest, "/")
	if parts[0] == "namespaces" && len(parts) > 2 {
		out.namespace, parts = parts[1], parts[2:]
	}
	kind := kindOf(parts[0])
	if kind == nil || len(parts) > 3 {
		return out
	}
	parts = append(parts, "", "")
	out.version, out.kind, out.name, out.subresource = version, kind, parts[1], parts[2]
	out.verb = verbOf(r, out.name != "")
	return out
}

// verbOf returns "" for a method that no resource has.
func verbOf(r *http.Request, hasName bool) string {
	watch := r.URL.Query().Get("watch")
	switch {
	case r.Method == http.MethodGet && hasName:
		return "get"
	case r.Method == http.MethodGet && (watch == "true" || watch == "1"):
		return "watch"
	case r.Method == http.MethodGet:
		return "list"
	case r.Method == http.MethodPost && !hasName:
		return "create"
	case r.Method == http.MethodPut && hasName:
		return "update"
	case r.Method == http.MethodPatch && hasName:
		return "patch"
	case r.Method == http.MethodDelete && hasName:
		return "delete"
	case r.Method == http.MethodDelete:
		return "deletecollection"
	default:
		return ""
	}
}

// exists reports whether there is such a place. One object of a namespaced kind is in a
// namespace, and nothing of the other kinds is.
func (r *request) exists() bool {
	inNamespace := r.namespace != ""
	acrossNamespaces := r.name == "" && (r.verb == "list" || r.verb == "watch")
	isSubresource := r.subresource == "" || r.subresource == "price" && r.kind.name == "Pizza"
	return isSubresource && (r.kind.namespaced == inNamespace || r.kind.namespaced && acrossNamespaces)
}

// groupResource is empty for what is no resource.
func (r *request) groupResource() schema.GroupResource {
	if r.kind == nil {
		return schema.GroupResource{}
	}
	return r.kind.groupResource()
}

func (r *request) key() key { return key{r.kind.resource, r.namespace, r.name} }

// hasDryRun reports whether nothing is to be stored.
func hasDryRun(values []string) (bool, error) {
	for _, value := range values {
		if value != metav1.DryRunAll {
			return false, badRequest("dryRun is %q, and may be %s", value, metav1.DryRunAll)
		}
	}
	return len(values) > 0, nil
}
