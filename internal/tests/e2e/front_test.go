//go:build integration

package e2e

import (
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"example.com/byhand/internal/testkit"
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

// rightFor returns the right that a request needs.
func rightFor(r testkit.Request) right {
	needs := right{group: r.Target.Group, resource: r.Target.Resource, namespace: r.Target.Namespace}
	if r.Target.Subresource != "" {
		needs.resource += "/" + r.Target.Subresource
	}
	switch collection := r.Target.Name == ""; {
	case r.Watch && collection:
		needs.verb = "watch"
	case r.Method == http.MethodGet && collection:
		needs.verb = "list"
	case r.Method == http.MethodDelete && collection:
		needs.verb = "deletecollection"
	default:
		needs.verb = map[string]string{http.MethodGet: "get", http.MethodPost: "create", http.MethodPut: "update",
			http.MethodPatch: "patch", http.MethodDelete: "delete"}[r.Method]
	}
	return needs
}

// front is a proxy with TLS: a client sends its token to no other server. It passes the
// token on, and records what was refused.
type front struct {
	testkit.Faults
	*httptest.Server
	mu      sync.Mutex
	refused []string
}

// newFront starts a front, which has the credentials of config, too.
func (s *server) newFront(config *rest.Config) *front {
	s.Helper()
	forward, err := testkit.Forward(config)
	if err != nil {
		s.Fatal(err)
	}
	f := &front{}
	forward.ModifyResponse = f.recordRefusal
	f.Next = forward
	f.Server = httptest.NewTLSServer(f)
	s.Cleanup(func() {
		f.CloseClientConnections()
		f.Close()
	})
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
	// A client that creates something in a namespace that is being deleted gets a 403,
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

// kubeconfig writes a kubeconfig with which a program sends this token to the front.
func (f *front) kubeconfig(t *testing.T, token string) string {
	t.Helper()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: f.Certificate().Raw})
	file, err := testkit.WriteKubeconfig(t.TempDir(), clientcmdapi.Cluster{Server: f.URL, CertificateAuthorityData: ca}, clientcmdapi.AuthInfo{Token: token})
	if err != nil {
		t.Fatal(err)
	}
	return file
}
