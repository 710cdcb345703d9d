package look

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"
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
	return target{strings.TrimSuffix(part[3]+"."+part[1], "."), part[2], part[4], part[5]}, true
}

// unseen are the resources of which nothing is told: Events are notes for people, and a Lease is
// renewed all the time.
var unseen = map[string]bool{"events": true, "events.events.k8s.io": true, "leases.coordination.k8s.io": true}

// exchange is one request and its answer.
type exchange struct {
	glass *Glass
	target
	method, path string
	began        time.Time
	watch        bool
	sent         kept
	once         sync.Once
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
	if !ok || r.Header.Get("Upgrade") != "" || unseen[to.resource] || to.subresource == "log" || to.subresource == "proxy" {
		g.notes.add(nil, 0)
		return nil
	}
	query := r.URL.Query()
	return &exchange{glass: g, target: to, method: r.Method, path: r.URL.Path, began: time.Now(), watch: query.Get("watch") == "true" || query.Get("watch") == "1"}
}

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

func (k *kept) bytes() []byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	return bytes.Clone(k.text)
}

// along is a body that is read along.
type along struct {
	io.Reader
	io.Closer
}

func (x *exchange) reading(body io.ReadCloser) io.ReadCloser {
	if body == nil || x.method == http.MethodGet {
		return body
	}
	return along{io.TeeReader(body, &x.sent), body}
}

// answered reads the answer along.
func (x *exchange) answered(response *http.Response) {
	switch {
	case response.StatusCode == http.StatusSwitchingProtocols:
	case x.method == http.MethodGet && response.StatusCode != http.StatusOK:
		if x.name == "" {
			x.glass.notes.add(&refusal{x.target, x.watch, response.Status}, 0)
		}
	case x.watch:
		x.glass.notes.add(&opened{x.target}, 0)
		response.Body = &stream{ReadCloser: response.Body, exchange: x}
	default:
		response.Body = &answer{ReadCloser: response.Body, exchange: x, code: response.StatusCode}
	}
}

// failed tells of a request without an answer.
func (x *exchange) failed(err error) {
	if x.method != http.MethodGet && x.glass != nil {
		x.glass.notes.add(&write{exchange: x, ended: time.Now(), err: err}, 0)
	}
}

// answer is the body of an answer that ends.
type answer struct {
	io.ReadCloser
	*exchange
	code int
	kept kept
}

func (a *answer) Read(p []byte) (int, error) {
	n, err := a.ReadCloser.Read(p)
	_, _ = a.kept.Write(p[:n])
	if err != nil {
		a.end()
	}
	return n, err
}

func (a *answer) Close() error {
	a.end()
	return a.ReadCloser.Close()
}

// end tells the answer.
func (a *answer) end() {
	a.once.Do(func() {
		text := a.kept.bytes()
		switch {
		case a.method != http.MethodGet:
			a.glass.world.wrote(a.exchange, text)
			a.glass.notes.add(&write{exchange: a.exchange, ended: time.Now(), code: a.code, answer: text}, len(text))
		case a.name == "":
			a.glass.notes.add(&list{a.target, text}, len(text))
		}
	})
}

// stream is the body of a watch. Each event is a line.
type stream struct {
	io.ReadCloser
	*exchange
	line []byte
}

func (s *stream) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	for rest := p[:n]; ; {
		line, after, whole := bytes.Cut(rest, []byte("\n"))
		s.line = append(s.line, line...)
		if !whole {
			return n, err
		}
		s.glass.notes.add(&event{target: s.target, line: s.line}, len(s.line))
		s.line, rest = nil, after
	}
}

// What is told.
type (
	// write is a request that is no GET, and its answer.
	write struct {
		*exchange
		ended  time.Time
		code   int // 0: none
		err    error
		answer []byte
	}
	// event is one of a watch.
	event struct {
		target
		line []byte
	}
	// list is the answer to a LIST.
	list struct {
		target
		answer []byte
	}
	// opened is a watch that begins, refusal a list or a watch that was refused.
	opened  struct{ target }
	refusal struct {
		target
		watch  bool
		status string
	}
)

// decode returns the object in a body, nil for what is none.
func decode(text []byte) map[string]any {
	var object map[string]any
	if json.Unmarshal(text, &object) != nil {
		return nil
	}
	return object
}
