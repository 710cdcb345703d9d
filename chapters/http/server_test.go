package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/byhand/internal/simulation"
)

// server is a small API server that plays faults. The objects are kept by
// internal/simulation. Lists, watches and faults are here. It and its clients live in one
// bubble of testing/synctest: the network is memory, and an hour takes no time.
type server struct {
	*simulation.APIServer
	t *testing.T
	// kubeconfig is the file that leads here. tokenFile is a file that it names.
	kubeconfig, tokenFile string
	conns                 chan net.Conn
	closed                chan struct{}

	// before plays a fault, if set: it is called before each request and reports whether it
	// has dealt with it.
	before func(w http.ResponseWriter, r *http.Request) (done bool)

	mu      sync.Mutex
	token   string   // the only one that is accepted
	answers []string // "METHOD resource code", in order
	refused map[string][]time.Time
	// flood is a request that was refused a hundred times within a second. That stops the
	// program: it would never stop by itself.
	flood string
	stop  func()

	changes []change
	oldest  int           // a watch from a version before this one gets 410 Gone
	held    bool          // the streams deliver nothing
	ended   int           // how many times all streams were ended
	cut     bool          // the last time without a proper end
	moved   chan struct{} // closed when a stream must look at all this again
}

type change struct {
	resource string
	version  int
	event    map[string]any
}

func newServer(t *testing.T) *server {
	t.Helper()
	dir := t.TempDir()
	s := &server{
		APIServer:  simulation.NewAPIServer(t),
		t:          t,
		kubeconfig: filepath.Join(dir, "kubeconfig"),
		tokenFile:  filepath.Join(dir, "token"),
		conns:      make(chan net.Conn),
		closed:     make(chan struct{}),
		refused:    map[string][]time.Time{},
		moved:      make(chan struct{}),
	}
	s.setToken("first")
	const config = "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts:\n- context:\n    cluster: c\n    user: c\n  name: c\n" +
		"clusters:\n- cluster:\n    server: http://api.test\n  name: c\nusers:\n- name: c\n  user:\n    tokenFile: %s\n"
	if err := os.WriteFile(s.kubeconfig, fmt.Appendf(nil, config, s.tokenFile), 0o600); err != nil {
		t.Fatal(err)
	}
	serving := &http.Server{Handler: s}
	go func() { _ = serving.Serve(listener{s}) }()
	t.Cleanup(func() { _ = serving.Close() })
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.before != nil && s.before(w, r) {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	resource, query := path.Base(r.URL.Path), r.URL.Query()
	s.mu.Lock()
	accepted := r.Header.Get("Authorization") == "Bearer "+s.token
	s.mu.Unlock()
	switch {
	case !accepted:
		s.refuse(w, r, resource, http.StatusUnauthorized)
	case query.Has("sendInitialEvents"):
		// As an old server: the Reflector then sends a list and a watch.
		s.refuse(w, r, resource, http.StatusUnprocessableEntity)
	case query.Get("watch") == "true":
		version, _ := strconv.Atoi(query.Get("resourceVersion"))
		s.watch(w, r, resource, version)
	case r.Method == http.MethodGet && (resource == "foos" || resource == "deployments"):
		s.list(w, r, resource)
	default:
		s.object(w, r)
	}
}

// refuse answers with an error.
func (s *server) refuse(w http.ResponseWriter, r *http.Request, resource string, code int) {
	s.answered(r, resource, code)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(failure(code))
}

func failure(code int) metav1.Status {
	reason := map[int]metav1.StatusReason{401: metav1.StatusReasonUnauthorized, 410: metav1.StatusReasonExpired, 422: metav1.StatusReasonInvalid}[code]
	return metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status: metav1.StatusFailure, Code: int32(code), Reason: reason, Message: http.StatusText(code)}
}

// answered counts an answer.
func (s *server) answered(r *http.Request, resource string, code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers = append(s.answers, fmt.Sprintf("%s %s %d", r.Method, resource, code))
	if code < 300 {
		return
	}
	const hundred = 100
	request, now := r.Method+" "+resource, time.Now()
	times := append(s.refused[request], now)
	s.refused[request] = times
	if n := len(times); n >= hundred && now.Sub(times[n-hundred]) < time.Second && s.flood == "" {
		s.flood = request
		s.stop()
	}
}

// count returns how many answers there were, as in "POST deployments 201".
func (s *server) count(answer string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.answers {
		if a == answer {
			n++
		}
	}
	return n
}

func (s *server) list(w http.ResponseWriter, r *http.Request, resource string) {
	list := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "samplecontroller.k8s.io/v1alpha1", "kind": "FooList"}}
	if resource == "deployments" {
		list.Object = map[string]any{"apiVersion": "apps/v1", "kind": "DeploymentList"}
	}
	s.mu.Lock()
	list.SetResourceVersion(s.Latest())
	for _, object := range s.List(resource) {
		list.Items = append(list.Items, *object)
	}
	s.mu.Unlock()
	content, err := list.MarshalJSON()
	if err != nil {
		s.t.Error(err)
	}
	s.answered(r, resource, http.StatusOK)
	_, _ = w.Write(content)
}

// watch writes each change of a resource after a version.
func (s *server) watch(w http.ResponseWriter, r *http.Request, resource string, version int) {
	lines := json.NewEncoder(w)
	s.mu.Lock()
	oldest, ended := s.oldest, s.ended
	s.mu.Unlock()
	if version < oldest {
		// As the real one does: the watch begins, and its first event says that it has ended.
		_ = lines.Encode(map[string]any{"type": "ERROR", "object": failure(http.StatusGone)})
		return
	}
	for {
		s.mu.Lock()
		changes, moved, end, cut := s.changes, s.moved, s.ended > ended, s.cut
		if s.held {
			changes = nil
		}
		s.mu.Unlock()
		if end && cut {
			panic(http.ErrAbortHandler) // the connection breaks
		} else if end {
			return
		}
		for _, c := range changes {
			if c.resource == resource && c.version > version {
				_ = lines.Encode(c.event)
				version = c.version
			}
		}
		w.(http.Flusher).Flush()
		select {
		case <-moved:
		case <-r.Context().Done():
			return
		}
	}
}

// object carries out a request for one object.
func (s *server) object(w http.ResponseWriter, r *http.Request) {
	resource := strings.Split(r.URL.Path, "/")[6] // of /apis/{group}/{version}/namespaces/{namespace}/{resource}/…
	s.mu.Lock()
	response, err := s.RoundTrip(r)
	if err != nil {
		s.t.Error(err)
	}
	content, _ := io.ReadAll(response.Body)
	object := &unstructured.Unstructured{}
	if response.StatusCode < 300 && r.Method != http.MethodGet {
		if err := object.UnmarshalJSON(content); err != nil {
			s.t.Error(err)
		}
		s.changed(map[string]string{http.MethodPost: "ADDED", http.MethodPut: "MODIFIED"}[r.Method], object)
	}
	s.mu.Unlock()
	s.answered(r, resource, response.StatusCode)
	w.WriteHeader(response.StatusCode)
	_, _ = w.Write(content)
}

// changed tells the streams of a change. It needs the lock.
func (s *server) changed(event string, object *unstructured.Unstructured) {
	version, err := strconv.Atoi(object.GetResourceVersion())
	if err != nil {
		s.t.Error(err)
	}
	s.changes = append(s.changes, change{
		resource: strings.ToLower(object.GetKind()) + "s",
		version:  version,
		event:    map[string]any{"type": event, "object": object.Object},
	})
	s.look()
}

// look makes every stream look at what it should do. It needs the lock.
func (s *server) look() {
	close(s.moved)
	s.moved = make(chan struct{})
}
