// Package simulation runs the controller against everything that can happen to it, in
// memory and in an order that a seed decides. apiserver.go is its API server, which the
// tests of package controller use, too. All the rest are tests.
package simulation

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/rest"
)

// The paths of the objects in namespace "default"; a name follows.
const (
	FooPath        = "/apis/samplecontroller.k8s.io/v1alpha1/namespaces/default/foos/"
	DeploymentPath = "/apis/apps/v1/namespaces/default/deployments/"
)

// APIServer does the part of an API server's work that a reconcile relies on: it
// keeps objects, gives each write a new resourceVersion, refuses to create twice
// and to overwrite what the writer has not seen. It records every request, and
// every change in order. Clients reach it without a socket: it is their
// http.RoundTripper.
type APIServer struct {
	t       *testing.T
	mu      sync.Mutex
	version int
	objects map[string]*unstructured.Unstructured // by URL path
	sent    []string
	// changes is what a watch of everything would have delivered.
	changes []*change
	// Refuse, if set, is asked before each request; a non-nil error is the answer.
	Refuse func(method, path string) *apierrors.StatusError
	// Mutate, if set, changes the object of each create and update, as a webhook does.
	Mutate func(path string, object *unstructured.Unstructured)
	// audit, if set, is told of each request and what came of it.
	audit func(x *exchange)
	// bareDelete carries out a DELETE that names no UID, as a real server does.
	// Otherwise it is refused: no test expects one.
	bareDelete bool
}

// change is one event of a watch. A deleted object is as it was at last, with the
// resourceVersion of its deletion.
type change struct {
	path    string
	version int
	object  *unstructured.Unstructured
	deleted bool
}

// exchange is one request: what was stored before and after (nil is nothing), and
// the refusal, if it was refused. The objects are the server's own.
type exchange struct {
	method, path          string // the path without /status
	status                bool   // of the status subresource
	resource              schema.GroupResource
	name                  string
	body                  *unstructured.Unstructured
	preconditions         metav1.Preconditions
	before, after, answer *unstructured.Unstructured
	refused               *apierrors.StatusError
}

// NewAPIServer returns a server without objects. What it cannot read fails t.
func NewAPIServer(t *testing.T) *APIServer {
	return &APIServer{t: t, version: 100, objects: map[string]*unstructured.Unstructured{}}
}

// Config is what a client needs. The server speaks JSON only.
func (s *APIServer) Config() *rest.Config {
	return &rest.Config{Host: "http://api.test", Transport: s, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: runtime.ContentTypeJSON}}
}

// Requests returns "METHOD resource/name[/subresource]" for each request since
// the last call.
func (s *APIServer) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	sent := s.sent
	s.sent = nil
	return sent
}

// List returns copies of the stored objects of a resource, in the order of their
// paths.
func (s *APIServer) List(resource string) []*unstructured.Unstructured {
	s.mu.Lock()
	defer s.mu.Unlock()
	var objects []*unstructured.Unstructured
	for _, path := range slices.Sorted(maps.Keys(s.objects)) {
		if strings.Contains(path, "/"+resource+"/") {
			objects = append(objects, s.objects[path].DeepCopy())
		}
	}
	return objects
}

// Get returns a copy of the object that is stored at a path, or nil.
func (s *APIServer) Get(path string) *unstructured.Unstructured {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.objects[path].DeepCopy()
}

// Latest is the newest resourceVersion.
func (s *APIServer) Latest() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strconv.Itoa(s.version)
}

// Add stores a new object as another client would.
func (s *APIServer) Add(path string, object *unstructured.Unstructured) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.store(path, object)
}

// Edit changes a stored object as another client would.
func (s *APIServer) Edit(path string, change func(object *unstructured.Unstructured)) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	object := s.objects[path].DeepCopy()
	if object == nil {
		s.t.Fatalf("nothing is stored at %s", path)
	}
	change(object)
	s.store(path, object)
}

// Remove deletes a stored object as another client would, finalizers or not.
func (s *APIServer) Remove(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(path)
}

// store stamps an object and makes it the stored one. One that is deleted and has
// lost its last finalizer goes.
func (s *APIServer) store(path string, object *unstructured.Unstructured) {
	before := s.objects[path]
	if before != nil && reflect.DeepEqual(before.Object, object.Object) {
		return // as etcd does, which skips a write that changes nothing
	}
	if object.GetDeletionTimestamp() != nil && len(object.GetFinalizers()) == 0 && before != nil && len(before.GetFinalizers()) > 0 {
		s.drop(path)
		return
	}
	s.version++
	object.SetResourceVersion(strconv.Itoa(s.version))
	switch {
	case before == nil:
		object.SetUID(types.UID(fmt.Sprintf("uid-%d", s.version)))
		object.SetGeneration(1)
	case !reflect.DeepEqual(before.Object["spec"], object.Object["spec"]),
		before.GetDeletionTimestamp() == nil && object.GetDeletionTimestamp() != nil:
		object.SetGeneration(before.GetGeneration() + 1)
	}
	s.objects[path] = object
	s.changes = append(s.changes, &change{path: path, version: s.version, object: object})
}

func (s *APIServer) drop(path string) {
	s.version++
	if object := s.objects[path].DeepCopy(); object != nil {
		object.SetResourceVersion(strconv.Itoa(s.version))
		s.changes = append(s.changes, &change{path: path, version: s.version, object: object, deleted: true})
	}
	delete(s.objects, path)
}

// delete does what a DELETE does: an object with finalizers stays until they are removed.
func (s *APIServer) delete(path string, finalizers ...string) {
	object := s.objects[path].DeepCopy()
	object.SetFinalizers(append(object.GetFinalizers(), finalizers...))
	if len(object.GetFinalizers()) == 0 {
		s.drop(path)
		return
	}
	if object.GetDeletionTimestamp() == nil {
		_ = unstructured.SetNestedField(object.Object, "2026-01-01T00:00:00Z", "metadata", "deletionTimestamp")
	}
	s.store(path, object)
}

// RoundTrip answers a request in the goroutine of the client.
func (s *APIServer) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.read(r)
	if s.Refuse != nil {
		x.refused = s.Refuse(x.method, x.path)
	}
	if x.refused == nil {
		s.check(x)
	}
	if x.refused == nil {
		if s.Mutate != nil && x.body.Object != nil {
			s.Mutate(x.path, x.body)
		}
		s.write(x)
	}
	x.after = s.objects[x.path]
	if s.audit != nil {
		s.audit(x)
	}
	return x.response(r), nil
}

// read takes a request apart:
//
//	/apis/{group}/{version}/namespaces/{namespace}/{resource}[/{name}[/status]]
func (s *APIServer) read(r *http.Request) *exchange {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	s.sent = append(s.sent, r.Method+" "+strings.Join(parts[5:], "/"))
	x := &exchange{method: r.Method, resource: schema.GroupResource{Group: parts[1], Resource: parts[5]}, body: &unstructured.Unstructured{}}
	x.path, x.status = strings.CutSuffix(r.URL.Path, "/status")
	var err error
	switch r.Method {
	case http.MethodPost, http.MethodPut:
		// Numbers without a fraction become int64, as they are in the tests.
		var text []byte
		if text, err = io.ReadAll(r.Body); err == nil {
			err = utiljson.Unmarshal(text, &x.body.Object)
		}
	case http.MethodDelete:
		var options metav1.DeleteOptions
		err = json.NewDecoder(r.Body).Decode(&options)
		if options.Preconditions != nil {
			x.preconditions = *options.Preconditions
		}
	}
	if err != nil {
		s.t.Errorf("%s %s: body: %v", r.Method, r.URL.Path, err)
	}
	if r.Method == http.MethodPost {
		x.path += "/" + x.body.GetName()
	}
	x.before, x.name = s.objects[x.path], x.path[strings.LastIndex(x.path, "/")+1:]
	return x
}

// check refuses what a server must refuse.
func (s *APIServer) check(x *exchange) {
	conflict := func(why string) *apierrors.StatusError {
		return apierrors.NewConflict(x.resource, x.name, fmt.Errorf("%s", why))
	}
	switch {
	case x.method == http.MethodPost && x.before != nil:
		x.refused = apierrors.NewAlreadyExists(x.resource, x.name)
	case x.method != http.MethodPost && x.before == nil:
		x.refused = apierrors.NewNotFound(x.resource, x.name)
	case x.method == http.MethodPut:
		// Without a resourceVersion a Deployment is overwritten, whatever it is.
		version, blind := x.body.GetResourceVersion(), x.resource.Resource == "deployments" && !x.status
		if version != x.before.GetResourceVersion() && !(version == "" && blind) {
			x.refused = conflict("the object has been modified")
		}
	case x.method == http.MethodDelete:
		uid, version := x.preconditions.UID, x.preconditions.ResourceVersion
		if uid == nil && !s.bareDelete || uid != nil && *uid != x.before.GetUID() || version != nil && *version != x.before.GetResourceVersion() {
			x.refused = conflict("precondition failed")
		}
	}
}

// write carries out a request that was not refused.
func (s *APIServer) write(x *exchange) {
	switch x.method {
	case http.MethodGet:
		x.answer = x.before
	case http.MethodDelete:
		s.delete(x.path)
	case http.MethodPost:
		s.store(x.path, x.body)
		x.answer = x.body
	case http.MethodPut:
		// A write to one half leaves the other half as it is.
		next := x.body.DeepCopy()
		if x.status {
			next = x.before.DeepCopy()
			next.Object["status"] = x.body.Object["status"]
		} else {
			next.Object["status"] = x.before.Object["status"]
			next.SetDeletionTimestamp(x.before.GetDeletionTimestamp())
			next.SetUID(x.before.GetUID())
			next.SetGeneration(x.before.GetGeneration())
		}
		s.store(x.path, next)
		x.answer = next
	}
}

// response is the answer on the wire.
func (x *exchange) response(r *http.Request) *http.Response {
	code, body := http.StatusOK, any(metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusSuccess})
	switch {
	case x.refused != nil:
		status := x.refused.ErrStatus
		status.APIVersion, status.Kind = "v1", "Status"
		code, body = int(status.Code), status
	case x.method == http.MethodPost:
		code, body = http.StatusCreated, x.answer.Object
	case x.method != http.MethodDelete:
		body = x.answer.Object
	}
	recorder := httptest.NewRecorder()
	recorder.Header().Set("Content-Type", runtime.ContentTypeJSON)
	recorder.WriteHeader(code)
	_ = json.NewEncoder(recorder).Encode(body)
	response := recorder.Result()
	response.Request = r
	return response
}
