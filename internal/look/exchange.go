package look

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/byhand/internal/trace"
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
	glass           *Glass
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
func (g *Glass) newExchange(r *http.Request) *exchange {
	path := strings.TrimPrefix(r.URL.Path, g.base)
	x := &exchange{glass: g, Request: testkit.Request{At: time.Now(), Method: r.Method, Path: path, Target: testkit.TargetOf(path), Query: r.URL.Query()}}
	x.resource = schema.GroupResource{Group: x.Target.Group, Resource: x.Target.Resource}.String()
	x.kind = g.kinds[x.resource]
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

// note has it told when the answer to a write that came just before is in.
func (x *exchange) note(what string, code int, body []byte) int64 {
	step := &trace.Step{Part: trace.PartRequest, What: what, Kind: x.kind, CauseSeq: x.seq,
		Request: &trace.Request{Method: x.Method, Path: x.Path, Status: code, Bytes: int64(len(body))}}
	if x.isMany() {
		step.Part = trace.PartStream
	}
	if x.Target.Name != "" {
		step.Key = x.objectKey()
	}
	return x.glass.Record(step, func(step *trace.Step) { x.glass.tell(note{x, step, code, body}) })
}

// RoundTrip passes a request on, and reads along.
func (g *Glass) RoundTrip(r *http.Request) (*http.Response, error) {
	x := g.newExchange(r)
	isSeen := x.isSeen(r)
	if isSeen {
		r.Header.Del("Accept-Encoding")
		r.Header.Set("Accept", g.readable(x, r.Header.Get("Accept")))
		x.sent = read(&r.Body)
		if !x.isMany() {
			x.seq = x.note(trace.Sent, 0, nil)
		}
	}
	response, err := g.next.RoundTrip(r)
	g.use(x, response)
	switch {
	case !isSeen:
	case err != nil && r.Context().Err() != nil: // The program has not waited.
		x.answered(0, []byte(err.Error()))
	case err != nil:
		x.answered(0, []byte(err.Error()+": is the API server still running?"))
	case x.Watch && response.StatusCode == http.StatusOK:
		x.seq = x.note(trace.Opened, http.StatusOK, nil)
		response.Body = &stream{ReadCloser: response.Body, exchange: x, split: splitOf(response.Header.Get("Content-Type"))}
	default:
		x.answered(response.StatusCode, read(&response.Body))
	}
	return response, err
}

// answered notes an answer, or with code 0 why there is none.
func (x *exchange) answered(code int, body []byte) {
	what := trace.Answered
	switch {
	case x.isList() && code == http.StatusOK:
		what = trace.Listed
	case x.isMany():
		what = trace.Refused
	case code == 0:
		what = trace.Failed
	case x.isWrite():
		x.answer = decodeMeta(body)
		x.glass.world.wrote(x, body)
	}
	x.note(what, code, body)
}

// mostRead is how much of a body is read along.
const mostRead = 32 << 20

// read returns what is in a body, and leaves it to be read. It returns nil if the body is too big to
// be told.
func read(body *io.ReadCloser) []byte {
	if *body == nil {
		return nil
	}
	text, _ := io.ReadAll(io.LimitReader(*body, mostRead+1)) // Whoever reads the rest meets the error.
	*body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(text), *body), *body}
	if len(text) > mostRead {
		return nil
	}
	return text
}

// stream is the body of a watch. Each event is told when it is whole.
type stream struct {
	io.ReadCloser
	*exchange
	split bufio.SplitFunc
	kept  []byte
}

func (s *stream) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	s.kept = append(s.kept, p[:n]...)
	for {
		size, event, _ := s.split(s.kept, false)
		if size == 0 {
			return n, err
		}
		s.note(trace.Received, http.StatusOK, event)
		s.kept = s.kept[size:]
	}
}

func (s *stream) Close() error {
	s.note(trace.Ended, http.StatusOK, nil)
	return s.ReadCloser.Close()
}
