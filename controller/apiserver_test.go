package controller_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
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
	"k8s.io/client-go/rest"
)

// apiServer does the part of an API server's work that a reconcile relies on: it
// keeps objects, gives each write a new resourceVersion, refuses to create twice
// and to overwrite what the writer has not seen. It records every request.
type apiServer struct {
	t       *testing.T
	server  *httptest.Server
	mu      sync.Mutex
	version int
	objects map[string]*unstructured.Unstructured // by URL path
	sent    []string
	// refuse, if set, is asked before each request; a non-nil error is the answer.
	refuse func(method, path string) *apierrors.StatusError
}

func newAPIServer(t *testing.T) *apiServer {
	s := &apiServer{t: t, version: 100, objects: map[string]*unstructured.Unstructured{}}
	s.server = httptest.NewServer(s)
	t.Cleanup(s.server.Close)
	return s
}

// config is what a client needs. The server speaks JSON only.
func (s *apiServer) config() *rest.Config {
	return &rest.Config{Host: s.server.URL, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: runtime.ContentTypeJSON}}
}

// requests returns "METHOD resource/name[/subresource]" for each request since
// the last call.
func (s *apiServer) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	sent := s.sent
	s.sent = nil
	return sent
}

// list returns copies of the stored objects of a resource.
func (s *apiServer) list(resource string) []*unstructured.Unstructured {
	s.mu.Lock()
	defer s.mu.Unlock()
	var objects []*unstructured.Unstructured
	for path, object := range s.objects {
		if strings.Contains(path, "/"+resource+"/") {
			objects = append(objects, object.DeepCopy())
		}
	}
	return objects
}

// latest is the newest resourceVersion.
func (s *apiServer) latest() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strconv.Itoa(s.version)
}

// edit changes a stored object as another client would.
func (s *apiServer) edit(path string, change func(object *unstructured.Unstructured)) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	object := s.objects[path]
	if object == nil {
		s.t.Fatalf("nothing is stored at %s", path)
	}
	before := object.DeepCopy()
	change(object)
	s.stamp(object, before)
}

// remove deletes a stored object as another client would.
func (s *apiServer) remove(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.objects, path)
	s.version++
}

// stamp does what the server does to each object that it stores.
func (s *apiServer) stamp(object, before *unstructured.Unstructured) {
	s.version++
	object.SetResourceVersion(strconv.Itoa(s.version))
	if before == nil {
		object.SetUID(types.UID(fmt.Sprintf("uid-%d", s.version)))
		object.SetGeneration(1)
	} else if fmt.Sprint(before.Object["spec"]) != fmt.Sprint(object.Object["spec"]) {
		object.SetGeneration(before.GetGeneration() + 1)
	}
}

func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	// /apis/{group}/{version}/namespaces/{namespace}/{resource}[/{name}[/status]]
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	s.sent = append(s.sent, r.Method+" "+strings.Join(parts[5:], "/"))
	resource := schema.GroupResource{Group: parts[1], Resource: parts[5]}

	body := &unstructured.Unstructured{Object: map[string]any{}}
	if r.Method == http.MethodPost || r.Method == http.MethodPut {
		if err := json.NewDecoder(r.Body).Decode(&body.Object); err != nil {
			s.t.Errorf("%s %s: body: %v", r.Method, r.URL.Path, err)
		}
	}
	path, _ := strings.CutSuffix(r.URL.Path, "/status")
	if r.Method == http.MethodPost {
		path += "/" + body.GetName()
	}
	stored, name := s.objects[path], path[strings.LastIndex(path, "/")+1:]

	var refused *apierrors.StatusError
	if s.refuse != nil {
		refused = s.refuse(r.Method, path)
	}
	switch {
	case refused != nil:
	case r.Method == http.MethodPost && stored != nil:
		refused = apierrors.NewAlreadyExists(resource, name)
	case r.Method != http.MethodPost && stored == nil:
		refused = apierrors.NewNotFound(resource, name)
	case r.Method == http.MethodPut && body.GetResourceVersion() != stored.GetResourceVersion():
		refused = apierrors.NewConflict(resource, name, fmt.Errorf("the object has been modified"))
	}
	if refused == nil && r.Method == http.MethodDelete {
		var options metav1.DeleteOptions
		if err := json.NewDecoder(r.Body).Decode(&options); err != nil {
			s.t.Errorf("DELETE %s: body: %v", path, err)
		}
		if p := options.Preconditions; p == nil || p.UID == nil || *p.UID != stored.GetUID() {
			refused = apierrors.NewConflict(resource, name, fmt.Errorf("precondition failed"))
		}
	}
	if refused != nil {
		reply(w, int(refused.ErrStatus.Code), refused.ErrStatus)
		return
	}

	switch r.Method {
	case http.MethodGet:
		reply(w, http.StatusOK, stored.Object)
	case http.MethodDelete:
		delete(s.objects, path)
		s.version++
		reply(w, http.StatusOK, metav1.Status{Status: metav1.StatusSuccess})
	case http.MethodPost:
		s.stamp(body, nil)
		s.objects[path] = body
		reply(w, http.StatusCreated, body.Object)
	case http.MethodPut:
		// A write to one half leaves the other half as it is.
		next := stored.DeepCopy()
		if path != r.URL.Path {
			next.Object["status"] = body.Object["status"]
		} else {
			body.Object["status"] = stored.Object["status"]
			next = body
		}
		s.stamp(next, stored)
		s.objects[path] = next
		reply(w, http.StatusOK, next.Object)
	}
}

func reply(w http.ResponseWriter, code int, body any) {
	if status, ok := body.(metav1.Status); ok {
		status.APIVersion, status.Kind = "v1", "Status"
		body = status
	}
	w.Header().Set("Content-Type", runtime.ContentTypeJSON)
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body)
}
