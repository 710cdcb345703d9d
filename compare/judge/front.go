package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"example.com/byhand/internal/faults"
)

// front is what the program talks to. It keeps a log of all requests, does with some of
// them what disturb says, and passes the rest to the proxy of package faults, which knows
// the faults of writes and watches, and from there to the API server.
type front struct {
	proxy  *faults.Proxy
	server http.Server

	mu      sync.Mutex
	log     []*request
	disturb handler
}

// handler does something with a request. What it returns false for is passed on.
type handler func(w http.ResponseWriter, r *http.Request) (done bool)

// request is one line of the log.
type request struct {
	at           time.Time
	method, path string
	target       target
	watch        bool
	code         int           // 0: no answer yet, or none that was complete
	took         time.Duration // 0: no answer yet
}

// target is the object of a request, or the collection if name is "".
type target struct{ resource, namespace, name, subresource string }

// newFront listens on 127.0.0.1.
func newFront(config *rest.Config) (*front, error) {
	proxy, err := faults.NewProxy(config)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	f := &front{proxy: proxy}
	f.server = http.Server{Handler: f, ErrorLog: log.New(io.Discard, "", 0)}
	// The kubeconfig that the proxy writes leads here.
	proxy.URL = "http://" + listener.Addr().String()
	go func() { _ = f.server.Serve(listener) }()
	return f, nil
}

func (f *front) close() {
	_ = f.server.Close()
	_ = f.proxy.Close()
}

// ServeHTTP implements http.Handler.
func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	line := &request{at: time.Now(), method: r.Method, path: r.URL.Path, target: targetOf(r.URL.Path), watch: r.URL.Query().Get("watch") != ""}
	f.mu.Lock()
	f.log = append(f.log, line)
	disturb := f.disturb
	f.mu.Unlock()
	recorder := &recorder{ResponseWriter: w, f: f, line: line}
	if disturb != nil && disturb(recorder, r) {
		return
	}
	f.proxy.ServeHTTP(recorder, r)
}

// recorder notes the code of an answer.
type recorder struct {
	http.ResponseWriter
	f    *front
	line *request
}

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(code int) {
	r.f.mu.Lock()
	r.line.code, r.line.took = code, time.Since(r.line.at)
	r.f.mu.Unlock()
	r.ResponseWriter.WriteHeader(code)
}

// Unwrap lets http.ResponseController flush a watch.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// disturbed makes disturb handle the requests, until it is called with nil.
func (f *front) disturbed(disturb handler) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.disturb = disturb
}

// requests returns the requests since a moment that want picks; without Events and Leases.
func (f *front) requests(since time.Time, want func(*request) bool) (found []request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.log {
		if !r.at.Before(since) && !slices.Contains([]string{"events", "leases"}, r.target.resource) && want(r) {
			found = append(found, *r)
		}
	}
	return found
}

// heardSince reports whether any request has come.
func (f *front) heardSince(since time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.log) > 0 && !f.log[len(f.log)-1].at.Before(since)
}

// leases returns the Leases that the program has written.
func (f *front) leases() (found []target) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.log {
		if r.target.resource == "leases" && r.target.name != "" && r.method != http.MethodGet && !slices.Contains(found, r.target) {
			found = append(found, r.target)
		}
	}
	return found
}

// forget empties the log.
func (f *front) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.log = nil
}

// isWrite reports whether the request can change a Foo or a Deployment.
func (r *request) isWrite() bool {
	return r.method != http.MethodGet && (r.target.resource == "foos" || r.target.resource == "deployments")
}

// in reports whether the request can concern a namespace.
func (r *request) in(namespace string) bool {
	return r.target.namespace == namespace || r.target.namespace == ""
}

func (r *request) String() string {
	answer := "no answer"
	if r.code != 0 {
		answer = fmt.Sprint(r.code)
	}
	verb := r.method
	if r.watch {
		verb = "WATCH"
	}
	what := r.path
	if t := r.target; t.resource != "" {
		what = path.Join(t.resource, t.name, t.subresource) // The namespace is the scenario's.
	}
	return fmt.Sprintf("%s  %-6s %s → %s", r.at.Format("15:04:05.000"), verb, what, answer)
}

// targetOf splits a path such as /apis/apps/v1/namespaces/default/deployments/one/scale.
func targetOf(path string) (t target) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	skip := map[string]int{"api": 2, "apis": 3}[parts[0]] // The version, or group and version.
	if skip == 0 || len(parts) <= skip {
		return t
	}
	parts = parts[skip:]
	if parts[0] == "namespaces" && len(parts) > 2 {
		t.namespace, parts = parts[1], parts[2:]
	}
	parts = append(parts, "", "", "")
	t.resource, t.name, t.subresource = parts[0], parts[1], parts[2]
	return t
}
