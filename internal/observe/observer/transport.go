package observer

import (
	"net/http"
	"regexp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"example.com/byhand/internal/observe/trace"
	"example.com/byhand/internal/observe/wire"
)

// Requests returns a config for clients that are observed: each request and its answer,
// each list and watch and the events in it. If every step is recorded, the clients use
// JSON even where client-go prefers protobuf, so that the trace shows the real bytes.
func (o *Observer) Requests(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	if o.all {
		config.ContentType, config.AcceptContentTypes = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	}
	config.Wrap(o.Transport)
	return config
}

// Transport observes what goes through next.
func (o *Observer) Transport(next http.RoundTripper) http.RoundTripper {
	return &wire.Transport{Next: next, Read: o.read}
}

// Record records a step of a program that is seen from outside, and returns its number. finish
// completes it when it is published, after those before it.
func (o *Observer) Record(step *trace.Step, finish func(*trace.Step)) int64 {
	return o.record(step, nil, finish)
}

// shownBodies are the subresources whose bodies are objects. Others may be a stream, such as a log.
var shownBodies = []string{"", "status", "scale"}

// read returns how to read a request. If its path has no observed kind, only the method and the path are
// shown.
func (o *Observer) read(r *http.Request) *wire.Exchange {
	isGet, query := r.Method == http.MethodGet, r.URL.Query()
	if isGet && !o.all {
		return nil
	}
	x := &exchange{observer: o, run: runOf(r.Context()), request: trace.Request{Method: r.Method, Path: r.URL.Path}, began: time.Now(), at: o.here(), to: o.targetOf(r.URL.Path)}
	if x.run != nil {
		x.seq = x.run.seq
	}
	if x.to.kind == nil {
		return &wire.Exchange{Opaque: true, Tell: x.tell}
	}
	x.request.Query = r.URL.RawQuery
	isMany := isGet && x.to.name == ""
	if isMany {
		x.asked, x.first = asked(query), query.Get("sendInitialEvents") == "true"
	}
	return &wire.Exchange{Many: isMany, Watch: isMany && query.Get("watch") == "true",
		Opaque: !o.all || !slices.Contains(shownBodies, x.to.subresource), Tell: x.tell}
}

// target is the object of a request. kind is nil if it is not observed.
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
