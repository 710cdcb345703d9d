package trace

import (
	"net/http"
	"strings"

	examplesv1alpha1 "example.com/byhand/api/examples-gzh.com/v1alpha1"
	samplecontrollerv1alpha1 "example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

// Transport records each request and its answer, each list and watch and the
// events in it. It fits rest.Config.Wrap.
func (r *Recorder) Transport(next http.RoundTripper) http.RoundTripper {
	if r == nil {
		return next
	}
	return &transport{recorder: r, next: next}
}

type transport struct {
	recorder *Recorder
	next     http.RoundTripper
}

// WrappedRoundTripper lets client-go find what is inside.
func (t *transport) WrappedRoundTripper() http.RoundTripper { return t.next }

// RoundTrip sends the request as it is.
func (t *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	to := targetOf(request.URL.Path)
	if request.Method == http.MethodGet && to.kind != "" && to.name == "" {
		return t.list(request, to)
	}
	return t.exchange(request, to)
}

// target is what a request is about. Its kind is "" for everything but Foos,
// Projects and Deployments.
type target struct{ kind, namespace, name, subresource string }

var kinds = map[string]string{
	samplecontrollerv1alpha1.GroupName + "/foos": "Foo",
	examplesv1alpha1.GroupName + "/projects":     "Project",
	"apps/deployments":                           "Deployment",
}

// targetOf takes a path apart, which may begin with something that a proxy wants:
//
//	/apis/{group}/{version}[/namespaces/{namespace}]/{resource}[/{name}[/{subresource}]]
func targetOf(path string) (to target) {
	_, path, _ = strings.Cut(path, "/apis/")
	parts := strings.Split(path, "/")
	if len(parts) < 3 {
		return target{}
	}
	group, parts := parts[0], parts[2:]
	if len(parts) > 2 && parts[0] == "namespaces" {
		to.namespace, parts = parts[1], parts[2:]
	}
	if to.kind = kinds[group+"/"+parts[0]]; to.kind == "" {
		return target{}
	}
	if len(parts) > 1 {
		to.name = parts[1]
	}
	if len(parts) > 2 {
		to.subresource = strings.Join(parts[2:], "/")
	}
	return to
}

// key is the object's, or "".
func (t target) key() string {
	if t.name == "" {
		return ""
	}
	return t.namespace + "/" + t.name
}

// wire is a request in its wire form. What a path that nobody knows asks for is
// nobody's business.
func wire(request *http.Request, to target) Request {
	w := Request{Method: request.Method, Path: request.URL.Path}
	if to.kind != "" {
		w.Query = request.URL.RawQuery
	}
	return w
}
