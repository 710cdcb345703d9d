package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/byhand/internal/tests"
	"example.com/byhand/kit/testkit"
)

const (
	fooPath        = fooAPI + "/namespaces/default/foos/"
	deploymentPath = "/apis/apps/v1/namespaces/default/deployments/"
)

// server is an in-memory API server that checks tokens. The server and its clients run in one
// bubble of testing/synctest: the network is memory, and an hour takes no time.
type server struct {
	*testkit.APIServer
	t *testing.T
	// tokenFile holds the only valid token.
	tokenFile string

	mu sync.Mutex
	// flood reports that a hundred POSTs were rejected within a second. The server then stops
	// the program, which would otherwise continue forever.
	flood bool
	stop  func()
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{APIServer: tests.NewAPIServer(), t: t, tokenFile: filepath.Join(t.TempDir(), "token")}
	s.setToken("first")
	objects := s.Next
	s.Next = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Authorization") != "Bearer "+s.token():
			testkit.WriteError(w, apierrors.NewUnauthorized("Unauthorized"))
		case r.URL.Query().Has("sendInitialEvents"):
			// Like a server without streaming lists: the Reflector then sends a list and a watch.
			testkit.WriteError(w, apierrors.NewInvalid(schema.GroupKind{}, "", nil))
		default:
			objects.ServeHTTP(w, r)
		}
	})
	return s
}

// ServeHTTP implements http.Handler. It stops a flood of requests.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.APIServer.ServeHTTP(w, r)
	refused := 0
	for _, request := range s.Log() {
		if request.Method == http.MethodPost && request.Code >= 300 && time.Since(request.At) < time.Second {
			refused++
		}
	}
	if refused >= 100 {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.flood = true
		s.stop()
	}
}

// answers returns "METHOD resource code" for each request with a response, in order. A watch's
// method is WATCH.
func (s *server) answers() (answers []string) {
	for _, request := range s.Log() {
		if request.Watch {
			request.Method = "WATCH"
		}
		if request.Code != 0 {
			answers = append(answers, fmt.Sprintf("%s %s %d", request.Method, request.Target.Resource, request.Code))
		}
	}
	return answers
}

// count returns how often such a response was sent, for example "POST deployments 201".
func (s *server) count(answer string) (n int) {
	for _, a := range s.answers() {
		if a == answer {
			n++
		}
	}
	return n
}

// token reads the token from the file, as the script does that starts the program.
func (s *server) token() string {
	token, _ := os.ReadFile(s.tokenFile) // no token once the test has ended
	return string(token)
}

// setToken replaces the token in the file, as a kubelet does for a Pod.
func (s *server) setToken(token string) {
	if err := os.WriteFile(s.tokenFile, []byte(token), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// unanswered blocks a request until the client gives up.
func unanswered(_ http.ResponseWriter, r *http.Request) bool {
	<-r.Context().Done()
	panic(http.ErrAbortHandler)
}

// User actions.

// create creates a Foo that asks for a Deployment of the same name.
func (s *server) create(name string) {
	s.Add(fooPath+name, &unstructured.Unstructured{Object: map[string]any{
		"spec": map[string]any{"deploymentName": name, "replicas": int64(2)},
	}})
}

func (s *server) label(name, value string) {
	s.Edit(fooPath+name, func(foo *unstructured.Unstructured) { foo.SetLabels(map[string]string{"label": value}) })
}

// Results.

// wrote fails the test unless these are the responses to all writes, in this order.
func (s *server) wrote(t *testing.T, want ...string) {
	t.Helper()
	got := slices.DeleteFunc(s.answers(), func(answer string) bool {
		return strings.HasPrefix(answer, http.MethodGet) || strings.HasPrefix(answer, "WATCH")
	})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
}

func (s *server) has(name string) bool { return s.Get(deploymentPath+name) != nil }
