package observer

import (
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
)

// Wrap has the clients that are made from config observed: each request and its answer,
// each list and watch and the events in it. If every step is recorded they speak JSON,
// also where client-go prefers protobuf: what is shown is what was sent.
func (o *Observer) Wrap(config *rest.Config) {
	if o.all {
		config.ContentType, config.AcceptContentTypes = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	}
	config.Wrap(o.Transport)
}

// Transport observes what goes through next, in JSON.
func (o *Observer) Transport(next http.RoundTripper) http.RoundTripper {
	return &transport{observer: o, next: next}
}

type transport struct {
	observer *Observer
	next     http.RoundTripper
}

// WrappedRoundTripper lets client-go find what is inside.
func (t *transport) WrappedRoundTripper() http.RoundTripper { return t.next }

// RoundTrip sends the request as it is.
func (t *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method == http.MethodGet && !t.observer.all {
		return t.next.RoundTrip(request)
	}
	to := t.observer.targetOf(request.URL.Path)
	if request.Method == http.MethodGet && to.kind != nil && to.name == "" {
		return t.list(request, to)
	}
	return t.exchange(request, to)
}

// target is what a request is about. Its kind is nil for what is not observed.
type target struct {
	kind                         *wired
	namespace, name, subresource string
}

// targetOf takes a path apart, which may begin with something that a proxy wants:
//
//	/apis/{group}/{version}[/namespaces/{namespace}]/{resource}[/{name}[/{subresource}]]
func (o *Observer) targetOf(path string) (to target) {
	_, path, _ = strings.Cut(path, "/apis/")
	parts := strings.Split(path, "/")
	if len(parts) < 3 {
		return target{}
	}
	group, parts := parts[0], parts[2:]
	if len(parts) > 2 && parts[0] == "namespaces" {
		to.namespace, parts = parts[1], parts[2:]
	}
	if to.kind = o.kinds[group+"/"+parts[0]]; to.kind == nil {
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

// kindName is the kind's, or "".
func (t target) kindName() string {
	if t.kind == nil {
		return ""
	}
	return t.kind.Kind.Kind
}

// key is the object's, or "".
func (t target) key() string {
	if t.name == "" {
		return ""
	}
	return t.namespace + "/" + t.name
}

// wireForm is a request in its wire form. What a path that nobody knows asks for is
// nobody's business.
func wireForm(request *http.Request, to target) Request {
	w := Request{Method: request.Method, Path: request.URL.Path}
	if to.kind != nil {
		w.Query = request.URL.RawQuery
	}
	return w
}
