package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"

	"example.com/byhand/chapters/apiserver/storage"
)

// server answers the requests. All fields must be set.
type server struct {
	storage      *storage.Storage
	authenticate func(*http.Request) (user, error)
	authorize    func(context.Context, *request) error
	// namespace returns a namespace as it is now.
	namespace func(ctx context.Context, name string) (*corev1.Namespace, error)
	// log tells of a request that was answered.
	log               func(format string, args ...any)
	requests, watches *room
	// patience is that of limits.go.
	patience time.Duration
}

// serve answers: who is it, is there such a verb, is there room, may they? Each can refuse.
func (s *server) serve(w *answerWriter, r *request, verb verb) (err error) {
	if r.user, err = s.authenticate(r.Request); err != nil {
		klog.FromContext(r.Context()).Info("Refused", "from", r.RemoteAddr, "reason", err.Error())
		return apierrors.NewUnauthorized("only the API server may ask, for others: " + err.Error())
	}
	if verb.handle == nil {
		return apierrors.NewMethodNotSupported(r.kind.groupResource(), r.Method)
	}
	room := s.watches
	if verb.name != "watch" {
		room = s.requests
		ctx, cancel := context.WithTimeout(r.Context(), requestTime)
		defer cancel()
		r.Request = r.WithContext(ctx)
	}
	leave, err := room.enter(r.user.User)
	if err != nil {
		return err
	}
	defer leave()
	if err := s.authorize(r.Context(), r); err != nil {
		return err
	}
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
		w.Header().Set("Content-Type", runtime.ContentTypeJSON)
	}
	w.WriteHeader(code)
	// A client that is gone cannot be told.
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

// statusOf makes a Status of an error. Any other one is internal.
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
