package serve_test

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"example.com/byhand/kit/serve"
)

func holds() error  { return nil }
func notYet() error { return errors.New("not yet") }

func TestHandler(t *testing.T) {
	good := []serve.Check{{Name: "one", Err: holds}}
	mixed := []serve.Check{{Name: "one", Err: holds}, {Name: "two", Err: notYet}}
	const list = "[+]one ok\n[-]two failed: not yet\n"
	for _, test := range []struct {
		options      serve.Options
		method, path string
		code         int
		body         string
	}{
		{serve.Options{}, "GET", "/healthz", 200, "ok"},
		{serve.Options{Ready: good}, "GET", "/readyz", 200, "ok"},
		{serve.Options{Ready: good}, "GET", "/readyz?verbose", 200, "[+]one ok\nreadyz check passed\n"},
		{serve.Options{Ready: mixed}, "GET", "/readyz", 503, list + "readyz check failed\n"},
		{serve.Options{Ready: mixed}, "GET", "/healthz", 200, "ok"},
		{serve.Options{Healthy: mixed}, "GET", "/healthz", 503, list + "healthz check failed\n"},
		{serve.Options{}, "POST", "/healthz", 405, "Method Not Allowed\n"},
		{serve.Options{Metrics: says("up 1\n")}, "GET", "/metrics", 200, "up 1\n"},
		{serve.Options{}, "GET", "/metrics", 404, "404 page not found\n"},
		{serve.Options{}, "GET", "/debug/pprof/cmdline", 404, "404 page not found\n"},
		{serve.Options{Metrics: says(""), Pprof: true}, "GET", "/", 200, "/healthz\n/readyz\n/metrics\n/debug/pprof/\n"},
	} {
		response := httptest.NewRecorder()
		serve.Handler(test.options).ServeHTTP(response, httptest.NewRequest(test.method, test.path, nil))
		if got := response.Body.String(); response.Code != test.code || got != test.body {
			t.Errorf("%s %s: %d %q, want %d %q", test.method, test.path, response.Code, got, test.code, test.body)
		}
	}
}

// On loopback Health rejects foreign names. On other addresses it accepts any: the kubelet and
// Prometheus connect from outside.
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
		request, response := httptest.NewRequest("GET", "/debug/pprof/", nil), httptest.NewRecorder()
		request.Host = test.host
		if handler.ServeHTTP(response, request); response.Code != test.code {
			t.Errorf("at %s, Host %s: %d, want %d", test.bound, test.host, response.Code, test.code)
		}
	}
}
