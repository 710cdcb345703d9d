package proxy

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"example.com/byhand/internal/observe/trace"
	"example.com/byhand/internal/observe/wire"
	"example.com/byhand/kit/testkit"
)

// unseen are the resources of which nothing is told: Events are notes for people, and a Lease is
// renewed all the time. Of opaque subresources nobody reads the bytes; nor of exec, attach and
// portforward, which are upgrades.
var (
	unseen = map[string]bool{"events": true, "events.events.k8s.io": true, "leases.coordination.k8s.io": true}
	opaque = map[string]bool{"log": true, "proxy": true}
)

// exchange is one request and its answer.
type exchange struct {
	proxy           *Proxy
	testkit.Request        // its path begins after that of the API server
	resource        string // the plural and the group, such as "deployments.apps"
	kind            string
	partial         bool // for the metadata alone
	sent            []byte
	answer          metav1.PartialObjectMetadata // of a write
	seq             int64                        // of the step that began it
	before          *object                      // of a write: how the object was, nil if that is not known
}

// newExchange returns what a request will be told as.
func (p *Proxy) newExchange(r *http.Request) *exchange {
	path := strings.TrimPrefix(r.URL.Path, p.base)
	x := &exchange{proxy: p, Request: testkit.Request{At: time.Now(), Method: r.Method, Path: path, Target: testkit.TargetOf(path), Query: r.URL.Query()}}
	x.resource = schema.GroupResource{Group: x.Target.Group, Resource: x.Target.Resource}.String()
	x.kind = p.kinds[x.resource]
	watch := x.Query["watch"]
	_ = runtime.Convert_Slice_string_To_bool(&watch, &x.Watch, nil) // as the API server reads it: the client for Python says True
	x.partial = strings.Contains(r.Header.Get("Accept"), "as="+partial)
	return x
}

// isSeen reports whether it is told: not an upgrade, and not what is about no object, such as
// discovery.
func (x *exchange) isSeen(r *http.Request) bool {
	return x.resource != "" && !unseen[x.resource] && !opaque[x.Target.Subresource] && r.Header.Get("Upgrade") == "" && !x.Query.Has("dryRun")
}

// isWrite reports whether it may change something.
func (x *exchange) isWrite() bool { return x.Method != http.MethodGet }

// isMany reports whether it is about many objects: a list, or a watch.
func (x *exchange) isMany() bool { return x.isList() || x.Watch }

func (x *exchange) isList() bool { return x.Verb() == "list" }

// String names it as Kubernetes does.
func (x *exchange) String() string { return strings.ToUpper(x.Verb()) + " " + x.Path }

// where is what it asks for, such as "deployments.apps in default".
func (x *exchange) where() string {
	if x.Target.Namespace == "" {
		return x.resource
	}
	return x.resource + " in " + x.Target.Namespace
}

// objectKey is the key of the object that it is about.
func (x *exchange) objectKey() string { return keyOf(x.Target.Namespace, x.Target.Name) }

// key is what a write is known by.
func (x *exchange) key() string { return x.Method + " " + x.Path + " " + x.Target.Name }

// note is something that happened to an exchange, and what came: an event, an answer, or why there
// is none.
type note struct {
	*exchange
	*trace.Step
	code int
	body []byte
}

// content returns the object that came; event is "" if it was no event.
func (n note) content() (event watch.EventType, object []byte) {
	if n.What != trace.Received {
		return "", n.body
	}
	return wire.Event(n.body)
}

// RoundTrip passes a request on, and reads along.
func (p *Proxy) RoundTrip(r *http.Request) (*http.Response, error) {
	x := p.newExchange(r)
	response, err := (&wire.Transport{Next: p.next, Read: x.observe}).RoundTrip(r)
	p.use(x, response)
	return response, err
}

// observe returns how to read the request, and makes it accept only encodings that can be decoded.
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
		switch {
		case kind == runtime.ContentTypeJSON, kind == "*/*", kind == "":
		case kind == runtime.ContentTypeProtobuf && (x.partial || wire.IsBuiltIn(x.Target.Group) && !strings.Contains(parameters, "as=")):
		default:
			if _, again := x.proxy.unreadable.LoadOrStore(x.resource+kind, true); !again {
				x.proxy.remark("look", "%s of %s cannot be read here: the API server is asked for JSON", kind, x.resource)
			}
			return runtime.ContentTypeJSON
		}
	}
	return accept
}

// tell records a message as a step. The log tells it later, when the answer to a write is in
// whose event came before it.
func (x *exchange) tell(m wire.Message) {
	body := m.Body
	switch {
	case m.What == trace.Sent:
		x.sent, body = body, nil
	case m.Code == 0 && errors.Is(m.Err, context.Canceled): // The program has not waited.
		body = []byte(m.Err.Error())
	case m.Code == 0:
		body = []byte(m.Err.Error() + ": is the API server still running?")
	case m.What == trace.Answered && x.isWrite():
		x.answer = wire.Metadata(body)
		x.proxy.world.wrote(x, body)
	}
	step := &trace.Step{Part: trace.PartRequest, What: m.What, Kind: x.kind, CauseSeq: x.seq,
		Request: &trace.Request{Method: x.Method, Path: x.Path, Status: m.Code, Bytes: int64(len(body))}}
	if x.isMany() {
		step.Part = trace.PartStream
	}
	if x.Target.Name != "" {
		step.Key = x.objectKey()
	}
	seq := x.proxy.Record(step, func(step *trace.Step) { x.proxy.tell(note{x, step, m.Code, body}) })
	if m.What == trace.Sent || m.What == trace.Opened {
		x.seq = seq
	}
}
