//go:build integration

package e2e

import (
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// right is what RBAC grants and a request needs.
type right struct {
	verb, group, resource string
	// namespace is "" for a right in all namespaces.
	namespace string
}

func (r right) String() string {
	text := r.verb + " " + schema.GroupResource{Group: r.group, Resource: r.resource}.String()
	if r.namespace != "" {
		text += " in " + r.namespace
	}
	return text
}

// in is the same right in one namespace.
func (r right) in(namespace string) right {
	r.namespace = namespace
	return r
}

// rightFor returns the right that a request needs. It returns false for a request
// that is about no object: the server's version, the list of its APIs.
func rightFor(r *http.Request) (needs right, ok bool) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case parts[0] == "api" && len(parts) > 2:
		parts = parts[2:]
	case parts[0] == "apis" && len(parts) > 3:
		needs.group, parts = parts[1], parts[3:]
	default:
		return right{}, false
	}
	if parts[0] == "namespaces" && len(parts) > 2 {
		needs.namespace, parts = parts[1], parts[2:]
	}
	needs.resource = parts[0]
	if len(parts) > 2 {
		needs.resource += "/" + parts[2]
	}
	collection := len(parts) == 1
	switch {
	case r.Method == http.MethodGet && collection && r.URL.Query().Get("watch") != "":
		needs.verb = "watch"
	case r.Method == http.MethodGet && collection:
		needs.verb = "list"
	case r.Method == http.MethodDelete && collection:
		needs.verb = "deletecollection"
	default:
		needs.verb = map[string]string{http.MethodGet: "get", http.MethodPost: "create", http.MethodPut: "update",
			http.MethodPatch: "patch", http.MethodDelete: "delete"}[r.Method]
	}
	return needs, true
}

// front is a server before the API server. It passes on what it gets, with the
// sender's credentials, and records what was needed and what was refused.
type front struct {
	*httptest.Server
	mu      sync.Mutex
	needed  map[right]bool
	refused []string
	// before, if set, is called before a request is passed on.
	before func(r *http.Request)
}

// proxy passes on requests to the API server, watches included, as the user of config.
func (s *server) proxy(config *rest.Config) *httputil.ReverseProxy {
	s.Helper()
	target, err := url.Parse(config.Host)
	if err != nil {
		s.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	if proxy.Transport, err = rest.TransportFor(config); err != nil {
		s.Fatal(err)
	}
	proxy.FlushInterval, proxy.ErrorLog = -1, log.New(io.Discard, "", 0)
	return proxy
}

// serves closes a server when the test ends.
func (s *server) serves(listening *httptest.Server) *httptest.Server {
	s.Cleanup(func() {
		listening.CloseClientConnections()
		listening.Close()
	})
	return listening
}

func (s *server) newFront() *front {
	s.Helper()
	f := &front{needed: map[right]bool{}}
	proxy := s.proxy(rest.AnonymousClientConfig(s.config))
	proxy.ModifyResponse = f.recordRefusal
	// With TLS: a client sends its token to no other server.
	f.Server = s.serves(httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		if needs, ok := rightFor(r); ok {
			f.needed[needs] = true
		}
		before := f.before
		f.mu.Unlock()
		if before != nil {
			before(r)
		}
		proxy.ServeHTTP(w, r)
	})))
	return f
}

func (f *front) recordRefusal(response *http.Response) error {
	if response.StatusCode != http.StatusForbidden {
		return nil
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	// Whoever creates something in a namespace that is being deleted gets a 403,
	// too. Other tests leave such namespaces behind.
	if bytes.Contains(body, []byte("NamespaceTerminating")) {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refused = append(f.refused, fmt.Sprintf("%s %s: %s", response.Request.Method, response.Request.URL.Path, body))
	return nil
}

// refusals returns the requests that were answered with 403.
func (f *front) refusals() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.refused)
}

// meddle calls do once, before the next request of this method whose path ends so
// is passed on.
func (f *front) meddle(method, suffix string, do func()) {
	var once sync.Once
	f.mu.Lock()
	defer f.mu.Unlock()
	f.before = func(r *http.Request) {
		if r.Method == method && strings.HasSuffix(r.URL.Path, suffix) {
			once.Do(do)
		}
	}
}

// kubeconfig writes a kubeconfig with which a program acts as this user through
// the front.
func (f *front) kubeconfig(t *testing.T, user *rest.Config) string {
	t.Helper()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: f.Certificate().Raw})
	return kubeconfig(t, clientcmdapi.Cluster{Server: f.URL, CertificateAuthorityData: ca}, clientcmdapi.AuthInfo{Token: user.BearerToken})
}
