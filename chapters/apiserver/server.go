package main

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/byhand/kit/testkit"
)

// maxBody is the size of the largest request body, in bytes.
const maxBody = 64 << 10

// server authenticates and authorizes each request before the API server in memory answers it. All
// fields must be set.
type server struct {
	authenticate func(*http.Request) (user, error)
	authorize    func(*http.Request, user) *apierrors.StatusError
	api          *testkit.APIServer
	log          func(line string) // called after each request for a resource
}

// newServer returns a server without clients: authenticate and authorize are not set.
func newServer() *server {
	s := &server{
		api: testkit.NewAPIServer(toppings),
		log: func(line string) { fmt.Println(time.Now().Format("15:04:05.000"), line) },
	}
	// Clients remember resourceVersions, so a restart must not reuse them. The time only grows.
	s.api.StartAt(int(time.Now().UnixMicro()))
	return s
}

// ServeHTTP answers a request.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer := &answer{ResponseWriter: w}
	asks, refusal := s.check(r)
	if refusal != nil {
		testkit.WriteError(answer, refusal)
	} else {
		s.pass(answer, r, asks)
	}
	if asks.ResourceAttributes != nil || asks.User == "" {
		// The client chooses the URL. QuoteToASCII keeps its control characters from the terminal.
		line := fmt.Sprintf("%-7s %s  for %s: %d", r.Method, r.URL.RequestURI(), asks.User, answer.code)
		s.log(strings.Trim(strconv.QuoteToASCII(line), `"`))
	}
}

// groupPath is the URL of the only group and version.
var groupPath = "/apis/" + version.String()

// check returns the user with the request's verb and resource, and an error unless the user may send it.
func (s *server) check(r *http.Request) (user, *apierrors.StatusError) {
	asks, err := s.authenticate(r)
	if err != nil {
		return user{}, apierrors.NewUnauthorized("only the API server may send requests: " + err.Error())
	}
	// The API server in memory has other groups, too.
	if r.URL.Path != groupPath && !strings.HasPrefix(r.URL.Path, groupPath+"/") {
		return asks, apierrors.NewNotFound(schema.GroupResource{}, r.URL.Path)
	}
	if attributes := attributesOf(r); attributes.Resource != "" {
		asks.ResourceAttributes = attributes
	} else {
		asks.NonResourceAttributes = &authorizationv1.NonResourceAttributes{Path: r.URL.Path, Verb: strings.ToLower(r.Method)}
	}
	return asks, s.authorize(r, asks)
}

// attributesOf returns a request's verb and resource for RBAC. It parses the URL like the in-memory API server: a
// request must not be authorized as one verb and served as another.
func attributesOf(r *http.Request) *authorizationv1.ResourceAttributes {
	target, query := testkit.TargetOf(r.URL.Path), r.URL.Query()
	request := testkit.Request{Method: r.Method, Target: target, Watch: testkit.IsWatch(r)}
	name := target.Name
	if verb := request.Verb(); verb == "list" || verb == "watch" {
		// A role for one name allows a list and a watch of this name.
		if selector, err := fields.ParseSelector(query.Get("fieldSelector")); err == nil {
			name, _ = selector.RequiresExactMatch("metadata.name")
		}
	}
	return &authorizationv1.ResourceAttributes{
		Verb: request.Verb(), Group: target.Group, Version: target.Version, Resource: target.Resource,
		Subresource: target.Subresource, Namespace: target.Namespace, Name: name,
	}
}

// pass lets the API server in memory answer. Next is that server without the faults that tests inject.
func (s *server) pass(w http.ResponseWriter, r *http.Request, asks user) {
	if asks.ResourceAttributes != nil && asks.ResourceAttributes.Verb == "watch" {
		// A watch lasts longer than package serve allows.
		control := http.NewResponseController(w)
		_ = control.SetReadDeadline(time.Time{})
		_ = control.SetWriteDeadline(time.Time{})
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	s.api.Next.ServeHTTP(w, r)
}

// answer records the response's code.
type answer struct {
	http.ResponseWriter
	code int
}

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(code int) {
	a.code = code
	a.ResponseWriter.WriteHeader(code)
}

// Unwrap is for http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
