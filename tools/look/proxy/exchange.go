package proxy

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/watch"

	"example.com/byhand/internal/observe/trace"
	"example.com/byhand/internal/observe/wire"
	"example.com/byhand/kit/testkit"
)

// unseen are the resources and groups that are not shown. Events are notes for people, a Lease is
// renewed all the time, and a review, such as a SubjectAccessReview, stores nothing. The bytes of
// opaque subresources are not read. exec, attach and portforward are upgrades, which are not read
// either.
var (
	unseen = sets.New("events", "events.events.k8s.io", "leases.coordination.k8s.io", "authentication.k8s.io", "authorization.k8s.io")
	opaque = sets.New("log", "proxy")
)

type exchange struct {
	proxy           *Proxy
	testkit.Request        // its path is relative to the API server's URL
	resource        string // the plural and the group, such as "deployments.apps"
	kind            string
	partial         bool                         // metadata only
	seq             int64                        // of the step that began it
	sent            *object                      // in a write
	answer          metav1.PartialObjectMetadata // to a write
	before          *object                      // the object before a write, nil if not known
	isListing       bool                         // The watch has not delivered all initial events yet.
	listed          int                          // how many it has delivered
}

func (p *Proxy) newExchange(at time.Time, method, path string, query url.Values) *exchange {
	x := &exchange{proxy: p, Request: testkit.Request{At: at, Method: method, Path: path, Target: testkit.TargetOf(path), Query: query}}
	x.resource = schema.GroupResource{Group: x.Target.Group, Resource: x.Target.Resource}.String()
	x.kind = p.kinds[x.resource]
	watch := x.Query["watch"]
	// Parsed as the API server does: the Python client sends True.
	_ = runtime.Convert_Slice_string_To_bool(&watch, &x.Watch, nil)
	x.isListing = x.Query.Get("sendInitialEvents") == "true"
	return x
}

// isSeen reports whether the request is shown: it is for objects, and no upgrade or dry run.
func (x *exchange) isSeen(r *http.Request) bool {
	return x.resource != "" && !unseen.HasAny(x.resource, x.Target.Group) && !opaque.Has(x.Target.Subresource) && r.Header.Get("Upgrade") == "" && !x.Query.Has("dryRun")
}

// isWrite reports whether it may change something.
func (x *exchange) isWrite() bool { return x.Method != http.MethodGet }

// isMany reports whether it is about many objects: a list, or a watch.
func (x *exchange) isMany() bool { return x.isList() || x.Watch }

func (x *exchange) isList() bool { return x.Verb() == "list" }

// String names it as Kubernetes does.
func (x *exchange) String() string { return strings.ToUpper(x.Verb()) + " " + x.Path }

// where returns the resource and the namespace, such as "deployments.apps in default".
func (x *exchange) where() string {
	if x.Target.Namespace == "" {
		return x.resource
	}
	return x.resource + " in " + x.Target.Namespace
}

// selector returns the selectors of a list or a watch.
func (x *exchange) selector() string {
	return x.Query.Get("labelSelector") + x.Query.Get("fieldSelector")
}

// objectKey returns the key of the requested object.
func (x *exchange) objectKey() string { return keyOf(x.Target.Namespace, x.Target.Name) }

// key identifies a write: repetitions have the same key.
func (x *exchange) key() string { return x.Method + " " + x.Path + " " + x.Target.Name }

// note is a step of an exchange, live or from a recording. Its body is an object, a list, a Status, or
// the reason for a missing response.
type note struct {
	*exchange
	*trace.Step
	code int
	body []byte
}

// RoundTrip forwards a request, and records it.
func (p *Proxy) RoundTrip(r *http.Request) (*http.Response, error) {
	x := p.newExchange(time.Now(), r.Method, strings.TrimPrefix(r.URL.Path, p.base), r.URL.Query())
	x.partial = strings.Contains(r.Header.Get("Accept"), "as="+partial)
	response, err := (&wire.Transport{Next: p.next, Read: x.observe}).RoundTrip(r)
	p.use(x, response)
	return response, err
}

// observe returns how to record the request, nil if it is not shown. It makes the request accept only
// encodings that can be decoded.
func (x *exchange) observe(r *http.Request) *wire.Exchange {
	if !x.isSeen(r) {
		return nil
	}
	r.Header.Del("Accept-Encoding")
	r.Header.Set("Accept", x.readable(r.Header.Get("Accept")))
	return &wire.Exchange{Many: x.isMany(), Watch: x.Watch, Tell: x.tell}
}

// readable returns the header Accept of a client if each of its encodings can be decoded, else JSON.
func (x *exchange) readable(accept string) string {
	for one := range strings.SplitSeq(accept, ",") {
		kind, parameters, _ := strings.Cut(strings.TrimSpace(one), ";")
		isJSON := kind == runtime.ContentTypeJSON || kind == "*/*" || kind == ""
		isProtobuf := kind == runtime.ContentTypeProtobuf && (x.partial || wire.IsBuiltIn(x.Target.Group) && !strings.Contains(parameters, "as="))
		if isJSON || isProtobuf {
			continue
		}
		if _, again := x.proxy.unreadable.LoadOrStore(x.resource+kind, true); !again {
			x.proxy.remark("look", "look cannot decode %s of %s, so it requests JSON", kind, x.resource)
		}
		return runtime.ContentTypeJSON
	}
	return accept
}

// tell records a message as a step. The step is logged later (toldAfter): a write's event may arrive
// before its response.
func (x *exchange) tell(m wire.Message) {
	body := m.Body
	switch {
	case m.What == trace.Sent:
	case m.Code == 0:
		body, _ = json.Marshal(metav1.Status{Message: m.Err.Error()})
	case m.What == trace.Answered && x.isWrite():
		x.proxy.world.wrote(x, body)
	}
	step := &trace.Step{Part: trace.PartRequest, What: m.What, Kind: x.kind, CauseSeq: x.seq,
		Request: &trace.Request{Method: x.Method, Path: x.Path, Query: x.Query.Encode(), Metadata: x.partial, Status: m.Code}}
	if x.isMany() {
		step.Part = trace.PartStream
	}
	if x.Target.Name != "" {
		step.Key = x.objectKey()
	}
	if m.What != trace.Received {
		step.Took = time.Since(x.At)
	}
	seq := x.proxy.Record(step, func(step *trace.Step) {
		body := body
		if m.What == trace.Received {
			var event watch.EventType
			event, body = wire.Event(body)
			step.Request.Event = string(event)
		}
		x.proxy.tell(note{x, step, m.Code, body})
	})
	if m.What == trace.Sent || m.What == trace.Opened {
		x.seq = seq
	}
}
