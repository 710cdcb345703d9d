package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
)

const (
	// maxBody is what a client may send, as much as to the API server.
	maxBody = 3 << 20
	// maxRequests and maxWatchers are how many are served at the same time.
	maxRequests, maxWatchers = 200, 1000
	// patience is how long a request and its answer may take. A watch has it for each event.
	patience = 30 * time.Second
)

// server answers the requests. All fields must be set.
type server struct {
	storage      *storage
	authenticate func(*http.Request) (user, error)
	authorize    func(context.Context, *request) error
	// namespace returns a namespace as it is now.
	namespace func(ctx context.Context, name string) (*corev1.Namespace, error)
	openAPI   *openAPI
	managers  managers
	// log tells of a request that was answered.
	log                func(format string, args ...any)
	requests, watchers limit
	// ending is closed when watches are to end: they would go on for an hour.
	ending chan struct{}
}

// limit counts what is served at the same time.
type limit chan struct{}

// enter returns false if there are too many already. Otherwise leave must be called.
func (l limit) enter() bool {
	select {
	case l <- struct{}{}:
		return true
	default:
		return false
	}
}

func (l limit) leave() { <-l }

// ServeHTTP answers: who is it, what is wanted, may they, is there room. Each can refuse.
func (s *server) ServeHTTP(w http.ResponseWriter, httpRequest *http.Request) {
	r := parse(httpRequest)
	answer := &answerWriter{ResponseWriter: w}
	defer func() {
		if reason := recover(); reason != nil && reason != any(http.ErrAbortHandler) {
			klog.Background().Error(nil, "Panic", "reason", reason, "stack", string(debug.Stack()))
			answer.refuse(apierrors.NewInternalError(fmt.Errorf("panic: %v", reason)))
		}
		if r.kind != nil {
			s.log("%-7s %s → %d  (for %s)", r.Method, r.URL.RequestURI(), answer.code, r.user.name)
		}
	}()
	if err := s.serve(answer, r); err != nil {
		answer.refuse(err)
	}
}

func (s *server) serve(w *answerWriter, r *request) (err error) {
	if r.user, err = s.authenticate(r.Request); err != nil {
		klog.FromContext(r.Context()).Info("Refused", "from", r.RemoteAddr, "reason", err.Error())
		return apierrors.NewUnauthorized("only the API server may ask, for others: " + err.Error())
	}
	controller := http.NewResponseController(w.ResponseWriter)
	deadline := time.Now().Add(patience)
	if err := errors.Join(controller.SetReadDeadline(deadline), controller.SetWriteDeadline(deadline)); err != nil {
		return err
	}
	limit := s.requests
	if r.verb == "watch" {
		limit = s.watchers
	}
	if !limit.enter() {
		return apierrors.NewTooManyRequests("too many requests at once, try again", 1)
	}
	defer limit.leave()
	if err := s.authorize(r.Context(), r); err != nil {
		return err
	}
	r.Body = http.MaxBytesReader(w.ResponseWriter, r.Body, maxBody)
	if r.kind == nil {
		return s.serveDiscovery(w, r)
	}
	if !r.exists() {
		return notFound(r)
	}
	return s.serveResource(w, r)
}

func (s *server) serveResource(w *answerWriter, r *request) error {
	switch {
	case r.subresource == "price" && r.verb == "get":
		return s.price(w, r)
	case r.subresource != "":
		return apierrors.NewMethodNotSupported(r.kind.groupResource(), r.Method)
	}
	switch r.verb {
	case "get":
		return s.get(w, r)
	case "list":
		return s.list(w, r)
	case "watch":
		return s.watch(w, r)
	case "create":
		return s.create(w, r)
	case "update":
		return s.update(w, r)
	case "patch":
		return s.patch(w, r)
	case "delete":
		return s.delete(w, r)
	case "deletecollection":
		return s.deleteCollection(w, r)
	default:
		return apierrors.NewMethodNotSupported(r.kind.groupResource(), r.Method)
	}
}

// answerWriter knows what was answered.
type answerWriter struct {
	http.ResponseWriter
	code int
}

func (w *answerWriter) WriteHeader(code int) {
	w.code = code
	w.ResponseWriter.WriteHeader(code)
}

// send answers with JSON.
func (w *answerWriter) send(code int, answer any) error {
	body, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/json")
	}
	w.WriteHeader(code)
	// Whoever is gone cannot be told.
	_, _ = w.Write(append(body, '\n'))
	return nil
}

// refuse answers with a Status, which every client of Kubernetes can read.
func (w *answerWriter) refuse(err error) {
	if w.code != 0 {
		return // The answer has begun.
	}
	status := statusOf(err)
	if status.Details != nil && status.Details.RetryAfterSeconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(status.Details.RetryAfterSeconds)))
	}
	_ = w.send(int(status.Code), status)
}

// statusOf makes a Status of an error. One that nobody has foreseen is internal.
func statusOf(err error) *metav1.Status {
	known := apierrors.APIStatus(nil)
	if !errors.As(err, &known) {
		known = apierrors.NewInternalError(err)
	}
	status := known.Status()
	status.Kind, status.APIVersion = "Status", "v1"
	return &status
}

// notFound is for a path that leads nowhere. apierrors.NewNotFound is for an object.
func notFound(r *request) error {
	return apierrors.NewGenericServerResponse(http.StatusNotFound, r.Method, r.groupResource(), "", "there is nothing at "+r.URL.Path, 0, true)
}

func badRequest(format string, args ...any) error {
	return apierrors.NewBadRequest(fmt.Sprintf(format, args...))
}

// readBody reads what a client sends.
func readBody(r *request) ([]byte, error) {
	body, err := io.ReadAll(r.Body)
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", maxBody))
	}
	if err != nil {
		return nil, badRequest("read the body: %v", err)
	}
	return body, nil
}
