package observer

import (
	"net/http"
	"regexp"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"example.com/byhand/internal/trace"
)

// Requests returns a config for clients that are observed: each request and its answer,
// each list and watch and the events in it. If every step is recorded they speak JSON,
// also where client-go prefers protobuf: what is shown is what was sent.
func (o *Observer) Requests(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	if o.all {
		config.ContentType, config.AcceptContentTypes = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	}
	config.Wrap(o.Transport)
	return config
}

// Transport observes what goes through next. It understands JSON alone.
func (o *Observer) Transport(next http.RoundTripper) http.RoundTripper {
	return &transport{observer: o, next: next}
}

// Record records a step of a program that is seen from outside, and returns its number. finish
// completes it when it is published, after those before it.
func (o *Observer) Record(step *trace.Step, finish func(*trace.Step)) int64 {
	return o.record(step, nil, finish)
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

// objectPath is what the path of a request to a resource ends with:
//
//	/apis/{group}/{version}[/namespaces/{namespace}]/{resource}[/{name}[/{subresource}]]
//
// and /api/{version}… for the group "".
var objectPath = regexp.MustCompile(`/(?:api|apis/([^/]+))/[^/]+/(?:namespaces/([^/]+)/)?([^/]+)(?:/([^/]+)(?:/(.+))?)?$`)

func (o *Observer) targetOf(path string) target {
	part := objectPath.FindStringSubmatch(path)
	if part == nil || o.kinds[part[1]+"/"+part[3]] == nil {
		return target{}
	}
	return target{o.kinds[part[1]+"/"+part[3]], part[2], part[4], part[5]}
}

// kindName is the kind's, or "".
func (t *target) kindName() string {
	if t.kind == nil {
		return ""
	}
	return t.kind.GVK.Kind
}

// key is the object's, or "".
func (t target) key() string {
	if t.name == "" {
		return ""
	}
	return keyOf(t.namespace, t.name)
}

// wireForm is a request in its wire form. What a path of no known kind asks for is
// not shown.
func wireForm(request *http.Request, to target) trace.Request {
	w := trace.Request{Method: request.Method, Path: request.URL.Path}
	if to.kind != nil {
		w.Query = request.URL.RawQuery
	}
	return w
}
