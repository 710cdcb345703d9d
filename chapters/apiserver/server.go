package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// server answers the requests. All fields must be set.
type server struct {
	storage           *storage
	authenticate      func(*http.Request) (user, error)
	authorize         func(context.Context, *request) error
	log               func(line string) // when a request is over
	requests, watches *room
	patience          time.Duration // that of limits.go
}

// request is what a client asks for, in the words of RBAC.
type request struct {
	*http.Request
	user user
	// verb is "" for what is no resource: discovery and OpenAPI.
	verb, name string
	partial    bool // The answer is to have metadata alone.
}

// handle answers a request. An error is answered as a Status.
type handle func(*server, http.ResponseWriter, *request) error

var collection = "/apis/" + version.String() + "/" + resource.Resource

// verbs are what a method means there.
var verbs = map[string]struct {
	name   string
	handle handle
}{
	"GET": {"list", (*server).list}, "POST": {"create", (*server).put},
	"GET /NAME": {"get", (*server).get}, "PUT /NAME": {"update", (*server).put},
	"PATCH /NAME": {"patch", (*server).put}, "DELETE /NAME": {"delete", (*server).delete},
}

// find returns what answers a request, and notes its verb and name.
func find(r *request) (handle, error) {
	if document := documents[r.URL.Path]; document != nil && r.Method == http.MethodGet {
		return document, nil
	}
	rest, isHere := strings.CutPrefix(r.URL.Path+"/", collection+"/")
	name, more, _ := strings.Cut(rest, "/")
	if !isHere || more != "" {
		return nil, refusal(http.StatusNotFound, metav1.StatusReasonNotFound, "there is nothing at "+r.URL.Path)
	}
	method := r.Method
	if name != "" {
		method += " /NAME"
	}
	verb, known := verbs[method]
	if !known {
		return nil, apierrors.NewMethodNotSupported(resource, r.Method)
	}
	if r.verb, r.name = verb.name, name; r.verb != "list" {
		return verb.handle, nil
	}
	// As the API server reads the query, which has authorized what it has read: ?watch is a watch, and
	// ?watch=0 is none. A role for one name allows a list of one name. A bad query is refused later.
	options := &internalversion.ListOptions{}
	if _ = readQuery(r, options); options.FieldSelector != nil {
		r.name, _ = options.FieldSelector.RequiresExactMatch("metadata.name")
	}
	if options.Watch {
		r.verb = "watch"
		return (*server).watch, nil
	}
	return verb.handle, nil
}

// ServeHTTP answers a request. Whatever comes is authenticated, wherever it goes.
func (s *server) ServeHTTP(w http.ResponseWriter, httpRequest *http.Request) {
	r, result := &request{Request: httpRequest, partial: wantsMetadata(httpRequest)}, "ok"
	if err := s.serve(w, r); err != nil {
		refuse(w, err)
		result = err.Error()
	}
	if r.verb != "" || result != "ok" {
		// QuoteToASCII: a client could write to the terminal.
		line := fmt.Sprintf("%-7s %s  for %s: %s", r.Method, r.URL.RequestURI(), r.user.User, result)
		s.log(strings.Trim(strconv.QuoteToASCII(line), `"`))
	}
}

// serve asks: who is it, is there such a verb, is there room, may they?
func (s *server) serve(w http.ResponseWriter, r *request) (err error) {
	if r.user, err = s.authenticate(r.Request); err != nil {
		return apierrors.NewUnauthorized("only the API server may ask, for others: " + err.Error())
	}
	handle, err := find(r)
	if err != nil {
		return err
	}
	room := s.watches
	if r.verb != "watch" {
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
	return handle(s, w, r)
}

func send(w http.ResponseWriter, code int, answer any) error {
	body, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", runtime.ContentTypeJSON)
	w.WriteHeader(code)
	_, _ = w.Write(append(body, '\n')) // A client that is gone cannot be told.
	return nil
}

// refuse answers with a Status, which every client can read.
func refuse(w http.ResponseWriter, err error) {
	status := statusOf(err)
	if status.Details != nil && status.Details.RetryAfterSeconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(status.Details.RetryAfterSeconds)))
	}
	_ = send(w, int(status.Code), status)
}

func statusOf(err error) *metav1.Status {
	known := apierrors.APIStatus(nil)
	if !errors.As(err, &known) {
		known = apierrors.NewInternalError(err)
	}
	status := known.Status()
	status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	return &status
}

// refusal is a Status for which apierrors has no function.
func refusal(code int32, reason metav1.StatusReason, message string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: code, Reason: reason, Message: message}}
}

func badRequest(format string, args ...any) error {
	return apierrors.NewBadRequest(fmt.Sprintf(format, args...))
}
