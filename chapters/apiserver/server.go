package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
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
	// patience is how long a watcher may take to read one event.
	patience = 10 * time.Second
)

// server answers the requests. All fields must be set. How long a request and its answer may
// take is package listen's part.
type server struct {
	storage *storage
	// stage is how much of it there is: 1 reads, 2 writes and watches, 3 patches, too.
	stage        int
	authenticate func(*http.Request) (user, error)
	authorize    func(context.Context, *request) error
	// namespace returns a namespace as it is now.
	namespace func(ctx context.Context, name string) (*corev1.Namespace, error)
	openAPI   *openAPI
	managers  managers
	// log tells of a request that was answered.
	log func(format string, args ...any)
	// requests and watchers have room for as many as may be served at the same time.
	requests, watchers chan struct{}
	patience           time.Duration
}

// serve answers: who is it, is there such a verb, is there room, may they? Each can refuse.
func (s *server) serve(w *answerWriter, r *request, verb verb) (err error) {
	if r.user, err = s.authenticate(r.Request); err != nil {
		klog.FromContext(r.Context()).Info("Refused", "from", r.RemoteAddr, "reason", err.Error())
		return apierrors.NewUnauthorized("only the API server may ask, for others: " + err.Error())
	}
	if verb.handle == nil || verb.stage > s.stage {
		return apierrors.NewMethodNotSupported(r.groupResource(), r.Method)
	}
	room := s.requests
	if verb.name == "watch" {
		room = s.watchers
	}
	select {
	case room <- struct{}{}:
		defer func() { <-room }()
	default:
		return apierrors.NewTooManyRequests("too many requests at once, try again", 1)
	}
	if err := s.authorize(r.Context(), r); err != nil {
		return err
	}
	r.Body = http.MaxBytesReader(w.ResponseWriter, r.Body, maxBody)
	return verb.handle(s, w, r)
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
	status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	return &status
}

// nowhere answers at a path that leads nowhere. apierrors.NewNotFound is for an object.
func nowhere(_ *server, _ *answerWriter, r *request) error {
	return refusal(http.StatusNotFound, metav1.StatusReasonNotFound, "there is nothing at "+r.URL.Path)
}

// refusal is a Status for which apierrors has no function.
func refusal(code int32, reason metav1.StatusReason, message string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: code, Reason: reason, Message: message}}
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
