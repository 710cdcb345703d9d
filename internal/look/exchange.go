package look

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"example.com/byhand/internal/trace"
)

// target is what a request is about.
type target struct {
	// resource is the plural and the group, such as "deployments.apps".
	resource, namespace, name, subresource string
}

// objectPath is what the path of a request to a resource ends with:
//
//	/apis/{group}/{version}[/namespaces/{namespace}]/{resource}[/{name}[/{subresource}]]
//
// and /api/{version}… for the group "". A namespace itself is the resource namespaces.
var objectPath = regexp.MustCompile(`^/(?:api|apis/([^/]+))/[^/]+/(?:namespaces/([^/]+)/)?([^/]+)(?:/([^/]+)(?:/(.+))?)?$`)

func targetOf(path string) (t target, ok bool) {
	part := objectPath.FindStringSubmatch(path)
	if part == nil {
		return t, false
	}
	return target{schema.GroupResource{Group: part[1], Resource: part[3]}.String(), part[2], part[4], part[5]}, true
}

// unseen are the resources of which nothing is told: Events are notes for people, and a Lease is
// renewed all the time.
var unseen = map[string]bool{"events": true, "events.events.k8s.io": true, "leases.coordination.k8s.io": true}

// exchange is one request and its answer.
type exchange struct {
	glass *Glass
	target
	method, path string
	query        url.Values
	began        time.Time
	// watch and list are requests for many objects, partial is one for their metadata alone.
	watch, list, partial bool
	seq                  int64 // of the step that began it
	sent                 kept
}

type exchangeKey struct{}

// exchangeOf returns the exchange of a request, nil for one that nobody reads along.
func exchangeOf(r *http.Request) *exchange {
	x, _ := r.Context().Value(exchangeKey{}).(*exchange)
	return x
}

// newExchange returns what a request will be told as: nil for an upgrade, and for what is about no
// object, such as discovery.
func (g *Glass) newExchange(r *http.Request) *exchange {
	to, ok := targetOf(r.URL.Path)
	query := r.URL.Query()
	if !ok || r.Header.Get("Upgrade") != "" || unseen[to.resource] || to.subresource == "log" || to.subresource == "proxy" || query.Has("dryRun") {
		return nil
	}
	x := &exchange{glass: g, target: to, method: r.Method, path: r.URL.Path, query: query, began: time.Now(), partial: strings.Contains(r.Header.Get("Accept"), "as="+partial)}
	x.watch = query.Get("watch") == "true" || query.Get("watch") == "1"
	if x.list = r.Method == http.MethodGet && to.name == "" && !x.watch; !x.list && !x.watch {
		x.seq = x.note(trace.Sent, 0, nil)
	}
	return x
}

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
	step := &trace.Step{Part: trace.PartRequest, What: what, Kind: x.glass.kinds[x.resource], CauseSeq: x.seq,
		Request: &trace.Request{Method: x.method, Path: x.path, Status: code, Bytes: int64(len(body))}}
	if x.list || x.watch {
		step.Part = trace.PartStream
	}
	if x.name != "" {
		step.Key = keyOf(x.namespace, x.name)
	}
	return x.glass.Record(step, len(body), func(step *trace.Step) { x.glass.tell(note{x, step, code, body}) })
}

// isWrite reports whether it may change something.
func (x *exchange) isWrite() bool { return x.method != http.MethodGet }

// mostRead is how much of a body is read along.
const mostRead = 32 << 20

// kept is what was read along of a body. It is safe for concurrent use: an answer may come before
// the whole request was sent.
type kept struct {
	mu   sync.Mutex
	text []byte
	more bool // than is kept
}

func (k *kept) Write(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.more = k.more || len(k.text)+len(p) > mostRead; k.more {
		k.text = nil
	} else {
		k.text = append(k.text, p...)
	}
	return len(p), nil
}

// take returns what was read since the last time.
func (k *kept) take() (text []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	text, k.text, k.more = k.text, nil, false
	return text
}

// along is a body that is read along.
type along struct {
	io.Reader
	io.Closer
}

// answered reads the answer along.
func (x *exchange) answered(response *http.Response) {
	if response.StatusCode == http.StatusSwitchingProtocols {
		return
	}
	a := &answer{ReadCloser: response.Body, exchange: x, code: response.StatusCode, streams: x.watch && response.StatusCode == http.StatusOK}
	if response.Body = a; a.streams {
		x.seq = x.note(trace.Opened, a.code, nil)
	}
}

// answer is the body of an answer. Each event of a watch is a line; what else is answered is told as
// a whole.
type answer struct {
	io.ReadCloser
	*exchange
	code    int
	streams bool
	kept    kept
	once    sync.Once
}

func (a *answer) Read(p []byte) (int, error) {
	n, err := a.ReadCloser.Read(p)
	line, rest, whole := p[:n], []byte(nil), a.streams
	for whole {
		if line, rest, whole = bytes.Cut(line, []byte("\n")); whole {
			_, _ = a.kept.Write(line)
			a.note(trace.Received, a.code, a.kept.take())
			line = rest
		}
	}
	_, _ = a.kept.Write(line)
	if err != nil {
		a.end()
	}
	return n, err
}

func (a *answer) Close() error {
	a.end()
	return a.ReadCloser.Close()
}

func (a *answer) end() {
	a.once.Do(func() {
		what, body := trace.Answered, a.kept.take()
		switch {
		case a.streams:
			what = trace.Ended
		case (a.list || a.watch) && a.code != http.StatusOK:
			what = trace.Refused
		case a.list:
			what = trace.Listed
		case a.isWrite():
			a.glass.world.wrote(a.exchange, body)
		}
		a.note(what, a.code, body)
	})
}

// plain returns a body as JSON, also if it was sent in the other encoding of the built-in kinds.
func plain(text []byte) []byte {
	if bytes.HasPrefix(text, []byte("k8s\x00")) {
		object, _, _ := scheme.Codecs.UniversalDeserializer().Decode(text, nil, nil)
		text, _ = json.Marshal(object)
	}
	return text
}

// decode returns the object in a body, nil for what is none.
func decode(text []byte) map[string]any {
	var object map[string]any
	if json.Unmarshal(text, &object) != nil {
		return nil
	}
	return object
}
