package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/byhand/internal/simulation"
)

// What people do.

// create makes a Foo that asks for a Deployment of the same name.
func (s *server) create(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Add(simulation.FooPath+name, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "samplecontroller.k8s.io/v1alpha1", "kind": "Foo",
		"metadata": map[string]any{"namespace": "default", "name": name},
		"spec":     map[string]any{"deploymentName": name, "replicas": int64(2)},
	}})
	s.changed("ADDED", s.Get(simulation.FooPath+name))
}

// label changes a Foo, but not what it asks for.
func (s *server) label(name, value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Edit(simulation.FooPath+name, func(foo *unstructured.Unstructured) { foo.SetLabels(map[string]string{"label": value}) })
	s.changed("MODIFIED", s.Get(simulation.FooPath+name))
}

func (s *server) remove(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	foo := s.Get(simulation.FooPath + name)
	s.Remove(simulation.FooPath + name)
	foo.SetResourceVersion(s.Latest())
	s.changed("DELETED", foo)
}

// What comes of it.

// wrote fails the test unless these are the answers to all writes, in this order.
func (s *server) wrote(t *testing.T, want ...string) {
	t.Helper()
	var got []string
	for _, answer := range s.answers {
		if !strings.HasPrefix(answer, http.MethodGet) {
			got = append(got, answer)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
}

// deployment fails the test unless there is a Deployment of this name, or is none.
func (s *server) deployment(t *testing.T, name string, want bool) {
	t.Helper()
	if is := s.Get(simulation.DeploymentPath+name) != nil; is != want {
		t.Errorf("there is a Deployment %s: %t, want %t", name, is, want)
	}
}

// status fails the test unless the status of a Foo says that it has its Deployment, or does
// not say so.
func (s *server) status(t *testing.T, name string, want bool) {
	t.Helper()
	version, _, _ := unstructured.NestedString(s.Get(simulation.FooPath+name).Object, "status", "observedDeploymentVersion")
	if is := version != ""; is != want {
		t.Errorf("the Foo %s has a status: %t, want %t", name, is, want)
	}
}

// floods fails the test unless this request was refused a hundred times within a second.
func (s *server) floods(t *testing.T, request string) {
	t.Helper()
	if s.flood != request {
		t.Errorf("a hundred times within a second: %q, want %q", s.flood, request)
	}
}

// What networks and servers do.

// listener is the server's end of the network in memory, dial the client's.
type listener struct{ *server }

func (l listener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l listener) Close() error   { close(l.closed); return nil }
func (l listener) Addr() net.Addr { return &net.TCPAddr{} }

func (s *server) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case s.conns <- server:
		return client, nil
	case <-s.closed:
		return nil, net.ErrClosed
	}
}

// setToken makes the server accept this token only, and puts it into the token file, as a
// kubelet does for a Pod.
func (s *server) setToken(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.token = token
	if err := os.WriteFile(s.tokenFile, []byte(token), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// hold keeps back what the streams would deliver, until release.
func (s *server) hold()    { s.set(func() { s.held = true }) }
func (s *server) release() { s.set(func() { s.held = false }) }

// forget makes the server forget what has changed, as etcd does after five minutes.
func (s *server) forget() {
	s.set(func() {
		s.changes = nil
		s.oldest, _ = strconv.Atoi(s.Latest())
	})
}

// endStreams ends each stream as the server does after half an hour or more. cutStreams
// breaks its connection.
func (s *server) endStreams() { s.set(func() { s.ended++; s.cut = false }) }
func (s *server) cutStreams() { s.set(func() { s.ended++; s.cut = true }) }

func (s *server) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	s.look()
}

// unanswered keeps a request until the client gives up.
func unanswered(r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // the end of a connection is seen after the body
	<-r.Context().Done()
}
