package testkit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// Fault is what happens to one write.
type Fault int

const (
	// Pass: nothing.
	Pass Fault = iota
	// KillBefore: the program is killed, and the API server never gets the request.
	KillBefore
	// KillAfter: the request takes effect, and the program is killed before the answer.
	KillAfter
	// LoseAnswer: the request takes effect, and the connection is cut before the answer.
	LoseAnswer
	// Refuse: the API server never gets the request, the program gets 503.
	Refuse
)

// Faults is a handler in front of an API server. It logs requests, injects faults, and passes all other
// requests on to Next. A broken connection is a panic with http.ErrAbortHandler, as in net/http. The zero value
// injects no faults. Faults is safe for concurrent use; the functions that it calls must be, too.
type Faults struct {
	// Next is the API server.
	Next http.Handler
	// Kill ends the program and returns when its process is gone. KillBefore and KillAfter
	// call it. Set it before the program starts.
	Kill func()

	mu        sync.Mutex
	log       []*Request
	reported  int // the number of log entries that Requests has returned
	intercept func(w http.ResponseWriter, r *http.Request) (done bool)
	decide    func(n int, r *http.Request) Fault
	writes    int // since OnWrite
	mutate    func(r *http.Request, object map[string]any)
	held      map[string]chan struct{} // by resource; closed by release
	watches   map[*openWatch]bool
}

// Request is one line of the log.
type Request struct {
	At           time.Time
	Method, Path string
	Target       Target
	Query        url.Values
	Watch        bool
	// Agent is the User-Agent, by which logs and managedFields name the program.
	Agent string
	// Code is 0 while the program has no response, and if the response was lost.
	Code int
	// Stored is the API server's code, even if the response was lost on purpose.
	Stored int
	// Message is the API server's reason for a rejection.
	Message string
	// Took is the time until the answer began.
	Took time.Duration
}

// Verb is what RBAC calls the request.
func (r *Request) Verb() string {
	switch collection := r.Target.Name == ""; {
	case r.Watch && collection:
		return "watch"
	case r.Method == http.MethodGet && collection:
		return "list"
	case r.Method == http.MethodDelete && collection:
		return "deletecollection"
	}
	return map[string]string{http.MethodGet: "get", http.MethodPost: "create", http.MethodPut: "update",
		http.MethodPatch: "patch", http.MethodDelete: "delete"}[r.Method]
}

// Log returns all requests since Forget, in the order in which they came.
func (f *Faults) Log() []Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	log := make([]Request, len(f.log))
	for i, line := range f.log {
		log[i] = *line
	}
	return log
}

// Forget empties the log.
func (f *Faults) Forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.log, f.reported = nil, 0
}

// Requests returns "METHOD resource[/name[/subresource]]" of each request since the last
// call that is about objects and is no list and no watch.
func (f *Faults) Requests() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var requests []string
	for _, line := range f.log[f.reported:] {
		if t := line.Target; t.Resource != "" && (t.Name != "" || line.Method != http.MethodGet) {
			requests = append(requests, line.Method+" "+t.String())
		}
	}
	f.reported = len(f.log)
	return requests
}

// Intercept calls intercept with each request from now on. If it returns true, it has answered the request.
// intercept may be nil.
func (f *Faults) Intercept(intercept func(w http.ResponseWriter, r *http.Request) (done bool)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.intercept = intercept
}

// OnWrite calls decide for each write from now on that is not intercepted, and applies the fault that it
// returns. Writes are POST, PUT, PATCH and DELETE, except of Events and Leases. n counts them from 1. decide
// may be nil.
func (f *Faults) OnWrite(decide func(n int, r *http.Request) Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.decide, f.writes = decide, 0
}

// Mutate calls mutate with the object of each create and update from now on, before the request arrives, as a
// mutating webhook does. Whole numbers are int64. mutate may be nil.
func (f *Faults) Mutate(mutate func(r *http.Request, object map[string]any)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mutate = mutate
}

// HoldWatches holds back the events of the watches of a resource, such as "pods", until release is called. No
// event is lost. Do not hold a resource twice at the same time.
func (f *Faults) HoldWatches(resource string) (release func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.held == nil {
		f.held = map[string]chan struct{}{}
	}
	released := make(chan struct{})
	f.held[resource] = released
	return sync.OnceFunc(func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.held, resource)
		close(released)
	})
}

// The causes for which the context of a watch ends.
var errCut, errEnded = errors.New("the watch is cut"), errors.New("the watch is ended")

// CutWatches breaks the connections of the open watches of a resource. Held events are lost.
func (f *Faults) CutWatches(resource string) { f.stopWatches(resource, errCut) }

// EndWatches ends the open watches of a resource, as an API server does after some time. Held events are lost.
func (f *Faults) EndWatches(resource string) { f.stopWatches(resource, errEnded) }

func (f *Faults) stopWatches(resource string, cause error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for w := range f.watches {
		if w.resource == resource {
			w.stop(cause)
		}
	}
}

// ServeHTTP implements http.Handler.
func (f *Faults) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	line := &Request{At: time.Now(), Method: r.Method, Path: r.URL.Path, Target: TargetOf(r.URL.Path), Query: r.URL.Query(), Agent: r.UserAgent()}
	line.Watch = IsWatch(r)
	f.mu.Lock()
	f.log = append(f.log, line)
	intercept := f.intercept
	f.mu.Unlock()
	answer := &recorder{ResponseWriter: w, faults: f, line: line, ctx: r.Context()}
	if intercept != nil && intercept(answer, r) {
		return
	}
	if line.Watch {
		f.serveWatch(answer, r)
		return
	}
	switch fault := f.faultOf(line, r); fault {
	case Refuse:
		WriteError(answer, apierrors.NewServiceUnavailable("refused by the test"))
	case KillBefore:
		f.Kill()
		panic(http.ErrAbortHandler)
	case KillAfter, LoseAnswer:
		f.pass(&lostAnswer{f, line}, r)
		if fault == KillAfter {
			f.Kill()
		}
		panic(http.ErrAbortHandler)
	default:
		f.pass(answer, r)
	}
}

func (f *Faults) faultOf(line *Request, r *http.Request) Fault {
	if r.Method == http.MethodGet || slices.Contains([]string{"events", "leases"}, line.Target.Resource) {
		return Pass
	}
	f.mu.Lock()
	f.writes++
	n, decide := f.writes, f.decide
	f.mu.Unlock()
	if decide == nil {
		return Pass
	}
	return decide(n, r)
}

// pass passes a request on, and changes its object first.
func (f *Faults) pass(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	mutate := f.mutate
	f.mu.Unlock()
	if mutate != nil && slices.Contains([]string{http.MethodPost, http.MethodPut}, r.Method) {
		text, err := readJSON(r)
		if err != nil {
			panic(http.ErrAbortHandler) // The program is gone.
		}
		var object map[string]any
		if utiljson.Unmarshal(text, &object) == nil { // Next rejects invalid JSON.
			mutate(r, object)
			text, _ = json.Marshal(object)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	}
	f.Next.ServeHTTP(w, r)
}

type openWatch struct {
	resource string
	stop     context.CancelCauseFunc
}

func (f *Faults) serveWatch(answer *recorder, r *http.Request) {
	ctx, stop := context.WithCancelCause(r.Context())
	defer stop(nil)
	answer.ctx = ctx
	open := &openWatch{answer.line.Target.Resource, stop}
	f.mu.Lock()
	if f.watches == nil {
		f.watches = map[*openWatch]bool{}
	}
	f.watches[open] = true
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		delete(f.watches, open)
		f.mu.Unlock()
		switch context.Cause(ctx) {
		case errCut:
			panic(http.ErrAbortHandler)
		case errEnded:
			// httputil.ReverseProxy treats the end of the context as a failure.
			if failure := recover(); failure != nil && failure != http.ErrAbortHandler {
				panic(failure)
			}
		}
	}()
	f.Next.ServeHTTP(answer, r.WithContext(ctx))
}

// recorder records the code of a response, and holds back the events of a held watch.
type recorder struct {
	http.ResponseWriter
	faults *Faults
	line   *Request
	ctx    context.Context
}

// WriteHeader implements http.ResponseWriter.
func (c *recorder) WriteHeader(code int) {
	c.faults.mu.Lock()
	c.line.Code, c.line.Stored, c.line.Took = code, code, time.Since(c.line.At)
	c.faults.mu.Unlock()
	c.ResponseWriter.WriteHeader(code)
}

// Write implements http.ResponseWriter.
func (c *recorder) Write(b []byte) (int, error) {
	c.begin()
	for released := c.hold(); released != nil; released = c.hold() {
		c.Flush() // The watch itself is answered.
		select {
		case <-released:
		case <-c.ctx.Done():
			return 0, context.Cause(c.ctx)
		}
	}
	if c.line.Code >= http.StatusBadRequest {
		c.note(b)
	}
	return c.ResponseWriter.Write(b)
}

// note notes the message of a rejection.
func (c *recorder) note(answer []byte) {
	object, _, _ := codecs.UniversalDeserializer().Decode(answer, nil, nil)
	if status, is := object.(*metav1.Status); is {
		c.faults.mu.Lock()
		defer c.faults.mu.Unlock()
		c.line.Message = status.Message
	}
}

// hold returns a channel to wait for before the next event, or nil. A rejection is not held.
func (c *recorder) hold() (released chan struct{}) {
	if !c.line.Watch || c.line.Code != http.StatusOK {
		return nil
	}
	c.faults.mu.Lock()
	defer c.faults.mu.Unlock()
	return c.faults.held[c.line.Target.Resource]
}

// Flush implements http.Flusher.
func (c *recorder) Flush() {
	c.begin()
	_ = http.NewResponseController(c.ResponseWriter).Flush()
}

// begin sends the code that net/http implies. Only the handler writes it.
func (c *recorder) begin() {
	if c.line.Code == 0 {
		c.WriteHeader(http.StatusOK)
	}
}

// Unwrap is for http.ResponseController.
func (c *recorder) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// lostAnswer discards a response.
type lostAnswer struct {
	faults *Faults
	line   *Request
}

func (*lostAnswer) Header() http.Header         { return http.Header{} }
func (*lostAnswer) Write(b []byte) (int, error) { return len(b), nil }

func (l *lostAnswer) WriteHeader(code int) {
	l.faults.mu.Lock()
	defer l.faults.mu.Unlock()
	l.line.Stored = code
}
