package testkit

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
)

// APIServer is an API server in memory. It is an http.Handler; clients reach it through Config without a
// socket, or through a socket like any other handler. Its Faults handle each request first. All methods are
// safe for concurrent use.
type APIServer struct {
	Faults
	resources []*Resource

	mu sync.Mutex
	storage
	moved *sync.Cond // There is a new change, or a watch is over.
}

// NewAPIServer returns a server with the namespace default and nothing else. It serves the built-in kinds
// of resource.go, and more. The first resource of a kind is served.
func NewAPIServer(more ...Resource) *APIServer {
	s := &APIServer{storage: newStorage()}
	s.moved = sync.NewCond(&s.mu)
	for _, res := range slices.Concat(builtIn, more) {
		if !slices.ContainsFunc(s.resources, func(other *Resource) bool { return other.GroupVersionKind == res.GroupVersionKind }) {
			s.resources = append(s.resources, &res)
		}
	}
	s.Next = http.HandlerFunc(s.serve)
	s.AddNamespace(metav1.NamespaceDefault)
	return s
}

// AddNamespace creates a namespace. Namespaced objects can be created only in an existing one.
func (s *APIServer) AddNamespace(name string) {
	s.Add("/api/v1/namespaces/"+name, &unstructured.Unstructured{Object: map[string]any{}})
}

// Config is what a client needs to reach the server without a socket.
func (s *APIServer) Config() *rest.Config {
	return &rest.Config{Host: "http://api.test", Transport: Transport{s}, QPS: -1}
}

// Get returns the object stored at a path, or nil. It belongs to the server: do not modify it.
func (s *APIServer) Get(path string) *unstructured.Unstructured {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.objects[path]
}

// Paths returns the sorted paths of a resource's objects.
func (s *APIServer) Paths(resource string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.objects)), func(path string) bool { return TargetOf(path).Resource != resource })
}

// List returns the stored objects of a resource, sorted by path. They belong to the server: do not modify them.
func (s *APIServer) List(resource string) (objects []*unstructured.Unstructured) {
	for _, path := range s.Paths(resource) {
		if object := s.Get(path); object != nil {
			objects = append(objects, object)
		}
	}
	return objects
}

// Version is the newest resourceVersion.
func (s *APIServer) Version() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version
}

// Latest is Version as clients see it.
func (s *APIServer) Latest() string { return strconv.Itoa(s.Version()) }

// History returns every change since the last Compact, the oldest first.
func (s *APIServer) History() []Change {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.history
}

// Compact drops the history: a request for an older version gets 410.
func (s *APIServer) Compact() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.compact()
}

// StartAt makes version the newest resourceVersion, and drops the history. A server that has lost its objects
// in a restart starts above every version that a client has seen.
func (s *APIServer) StartAt(version int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version = version
	s.compact()
}

// Add stores an object as another client would, without validation. The path determines its kind, name and
// namespace.
func (s *APIServer) Add(path string, object *unstructured.Unstructured) {
	target := TargetOf(path)
	object.SetName(target.Name)
	if target.Namespace != "" {
		object.SetNamespace(target.Namespace)
	}
	s.acts(path, func(res *Resource) {
		s.store(res, path, object)
	})
}

// store writes an object as another client would. It panics if the metadata is invalid: that is a mistake in
// the test.
func (s *APIServer) store(res *Resource, path string, object *unstructured.Unstructured) {
	if err := res.complete(object); err != nil {
		panic(fmt.Sprintf("%s: %v", path, err))
	}
	s.put(res, path, object)
}

// Edit changes a stored object as another client would. Nothing is validated.
func (s *APIServer) Edit(path string, change func(object *unstructured.Unstructured)) {
	s.acts(path, func(res *Resource) {
		object := s.objects[path].DeepCopy()
		if object == nil {
			panic("nothing is stored at " + path)
		}
		change(object)
		s.store(res, path, object)
	})
}

// Each changes every stored object of a resource, as Edit does. An unchanged object is not written.
func (s *APIServer) Each(resource string, change func(object *unstructured.Unstructured)) {
	for _, path := range s.Paths(resource) {
		s.acts(path, func(res *Resource) {
			if stored := s.objects[path]; stored != nil {
				object := stored.DeepCopy()
				change(object)
				s.store(res, path, object)
			}
		})
	}
}

// Delete deletes a stored object as another client would. "" is the default policy.
func (s *APIServer) Delete(path string, policy metav1.DeletionPropagation) {
	s.acts(path, func(res *Resource) { s.terminate(res, path, policy) })
}

// Remove removes a stored object at once, even one with finalizers.
func (s *APIServer) Remove(path string) {
	s.acts(path, func(*Resource) { s.drop(path) })
}

func (s *APIServer) acts(path string, act func(*Resource)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	res := s.resourceAt(path)
	if res == nil {
		panic(fmt.Sprintf("%s is the path of no object that is served here", path))
	}
	act(res)
	s.moved.Broadcast()
}

// resourceAt returns the resource of a URL, or nil.
func (s *APIServer) resourceAt(path string) *Resource {
	target := TargetOf(path)
	for _, res := range s.resources {
		if res.Plural == target.Resource && res.Group == target.Group && strings.HasPrefix(path, res.Path(target.Namespace, "")) {
			return res
		}
	}
	return nil
}
