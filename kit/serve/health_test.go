package serve_test

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/byhand/kit/serve"
)

func holds() error   { return nil }
func notYet() error  { return errors.New("not yet") }
func another() error { return errors.New("another reason") }

// ask sends one request and returns the code and the body of the answer.
func ask(handler http.Handler, method, path string) (int, string) {
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequest(method, path, nil))
	return answer.Code, answer.Body.String()
}

// What is asked, and what comes back.
func TestHandler(t *testing.T) {
	counts := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("up 1\n")) })
	mixed := []serve.Check{{Name: "one", Err: holds}, {Name: "two", Err: notYet}, {Name: "three", Err: another}}
	const list = "[+]one ok\n[-]two failed: not yet\n[-]three failed: another reason\n"
	for _, test := range []struct {
		reason       string
		options      serve.Options
		method, path string
		code         int
		body         string
	}{
		{"nothing to check", serve.Options{}, "GET", "/healthz", 200, "ok"},
		{"HEAD, whose body net/http leaves out", serve.Options{}, "HEAD", "/readyz", 200, "ok"},
		{"all hold", serve.Options{Ready: []serve.Check{{Name: "one", Err: holds}}}, "GET", "/readyz", 200, "ok"},
		{"all hold, in full", serve.Options{Ready: []serve.Check{{Name: "one", Err: holds}}}, "GET", "/readyz?verbose", 200, "[+]one ok\nreadyz check passed\n"},
		{"not ready", serve.Options{Ready: mixed}, "GET", "/readyz", 503, list + "readyz check failed\n"},
		{"not ready, but alive", serve.Options{Ready: mixed}, "GET", "/healthz", 200, "ok"},
		{"not healthy", serve.Options{Healthy: mixed}, "GET", "/healthz", 503, list + "healthz check failed\n"},
		{"metrics", serve.Options{Metrics: counts}, "GET", "/metrics", 200, "up 1\n"},
		{"no metrics", serve.Options{}, "GET", "/metrics", 404, "404 page not found\n"},
		{"the index", serve.Options{}, "GET", "/", 200, "/healthz\n/readyz\n"},
		{"the full index", serve.Options{Metrics: counts, Pprof: true}, "GET", "/", 200, "/healthz\n/readyz\n/metrics\n/debug/pprof/\n"},
		{"another path", serve.Options{}, "GET", "/healthz/one", 404, "404 page not found\n"},
		{"POST", serve.Options{}, "POST", "/healthz", 405, "Method Not Allowed\n"},
		{"pprof not asked for", serve.Options{Metrics: counts}, "GET", "/debug/pprof/cmdline", 404, "404 page not found\n"},
		{"POST to pprof", serve.Options{Pprof: true}, "POST", "/debug/pprof/symbol", 405, "Method Not Allowed\n"},
	} {
		code, body := ask(serve.Handler(test.options), test.method, test.path)
		if code != test.code {
			t.Errorf("%s: %s %s: code %d, want %d", test.reason, test.method, test.path, code, test.code)
		}
		if diff := cmp.Diff(test.body, body); diff != "" {
			t.Errorf("%s: %s %s (-want +got):\n%s", test.reason, test.method, test.path, diff)
		}
	}
}

// On loopback a name that anybody can have is refused. On an address that other
// machines reach any is answered: a kubelet and Prometheus ask from outside.
func TestHealthHost(t *testing.T) {
	for _, test := range []struct {
		bound, host string
		code        int
	}{
		{"127.0.0.1", "localhost:9999", http.StatusOK},
		{"127.0.0.1", "rebound.example", http.StatusMisdirectedRequest},
		{"0.0.0.0", "byhand.byhand-system.svc:8080", http.StatusOK},
	} {
		handler := serve.Health(serve.Options{Pprof: true})(&net.TCPAddr{IP: net.ParseIP(test.bound), Port: 8080})
		for _, path := range []string{"/healthz", "/debug/pprof/"} {
			request, answer := httptest.NewRequest("GET", path, nil), httptest.NewRecorder()
			request.Host = test.host
			if handler.ServeHTTP(answer, request); answer.Code != test.code {
				t.Errorf("at %s, Host %s, %s: %d, want %d", test.bound, test.host, path, answer.Code, test.code)
			}
		}
	}
}
