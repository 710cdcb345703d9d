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

// APIServer is an API server in memory. It is an http.Handler; clients reach it through
// Config without a socket, or through a socket as any other handler. Its Faults stand before
// it. All methods are safe for concurrent use.
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

// AddNamespace creates a namespace. Objects can be created in no other ones.
func (s *APIServer) AddNamespace(name string) {
	s.Add("/api/v1/namespaces/"+name, &unstructured.Unstructured{Object: map[string]any{}})
}

// Config is what a client needs to reach the server without a socket.
func (s *APIServer) Config() *rest.Config {
	return &rest.Config{Host: "http://api.test", Transport: Transport{s}, QPS: -1}
}

// Get returns the object that is stored at a path, or nil. It is the server's own: nobody may
// change it.
func (s *APIServer) Get(path string) *unstructured.Unstructured {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.objects[path]
}

// Paths returns where objects of a resource are stored, in order.
func (s *APIServer) Paths(resource string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.objects)), func(path string) bool { return TargetOf(path).Resource != resource })
}

// List returns the stored objects of a resource in the order of their paths. They are the
// server's own.
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

// Compact forgets the history: who asks for an older version gets 410.
func (s *APIServer) Compact() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.compact()
}

// StartAt makes version the newest resourceVersion, and forgets the history. A server that has lost
// its objects in a restart starts above every version that a client has seen.
func (s *APIServer) StartAt(version int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version = version
	s.compact()
}

// Add stores an object as another client would. Nothing is validated. Kind, name and
// namespace are those of the path.
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

// store is the write of another client. It panics if the metadata is invalid, which is a mistake in the test.
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

// Each changes every stored object of a resource, as Edit does. What a change leaves as it is
// is not written.
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

// Remove makes a stored object vanish, finalizers or not.
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
