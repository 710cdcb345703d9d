package proxy

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/byhand/internal/observe/trace"
	"example.com/byhand/internal/tests"
)

// before returns a Proxy in front of a server with a path prefix, and the configuration of its
// kubeconfig.
func before(t *testing.T, handler http.Handler) (p *Proxy, config *rest.Config) {
	t.Helper()
	server := httptest.NewServer(http.StripPrefix("/cluster", handler))
	t.Cleanup(server.Close)
	p, err := New(t.Context(), &rest.Config{Host: server.URL + "/cluster"}, Options{Address: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	if config, err = clientcmd.BuildConfigFromFlags("", p.Kubeconfig); err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	return p, config
}

// A request without the token is rejected, and does not reach the API server. An upgrade, as for exec
// and port-forward, passes both ways, and is not logged. Only its owner can read the kubeconfig, which
// is removed with the Proxy.
func TestProxy(t *testing.T) {
	s := tests.NewAPIServer()
	p, config := before(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Authorization") != "":
			t.Error("the API server gets the token of the Proxy")
		case r.Header.Get("Upgrade") != "":
			connection, stream, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer connection.Close()
			_, _ = io.WriteString(connection, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n")
			_, _ = io.Copy(connection, stream)
		default:
			s.ServeHTTP(w, r)
		}
	}))
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	request, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, config.Host+"/api/v1/namespaces/default/pods/a/exec?command=sh", nil)
	request.Header = http.Header{"Connection": {"Upgrade"}, "Upgrade": {"SPDY/3.1"}}
	response, err := transport.RoundTrip(request)
	if err != nil || response.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("the answer is %v, %v", response, err)
	}
	connection := response.Body.(io.ReadWriteCloser)
	defer connection.Close()
	_, _ = io.WriteString(connection, "marked\n")
	if line, err := bufio.NewReader(connection).ReadString('\n'); line != "marked\n" {
		t.Errorf("what came back is %q, %v", line, err)
	}

	const path = "/api/v1/namespaces/default/secrets"
	for token, isRefused := range map[string]bool{config.BearerToken: false, "another": true} {
		config.BearerToken = token
		err := kubernetes.NewForConfigOrDie(config).RESTClient().Get().AbsPath(path).Do(t.Context()).Error()
		if apierrors.IsUnauthorized(err) != isRefused {
			t.Errorf("with the token %s: %v", token, err)
		}
	}

	info, err := os.Stat(p.Kubeconfig)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the kubeconfig: %v, %v; want mode 0600", info, err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(p.Kubeconfig); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the kubeconfig is left: %v", err)
	}
	if steps := p.Kept(0); len(steps) != 2 || steps[0].What != trace.Listed {
		t.Errorf("the steps are %v, want the list and the summary", steps)
	}
}
