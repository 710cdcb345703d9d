package serve_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/byhand/internal/serve"
)

func holds() error   { return nil }
func notYet() error  { return errors.New("not yet") }
func another() error { return errors.New("another reason") }

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
		{"nothing to check", serve.Options{}, "GET", "/readyz", 200, "ok"},
		{"HEAD", serve.Options{}, "HEAD", "/readyz", 200, ""},
		{"all hold", serve.Options{Ready: []serve.Check{{Name: "one", Err: holds}}}, "GET", "/readyz", 200, "ok"},
		{"all hold, in full", serve.Options{Ready: []serve.Check{{Name: "one", Err: holds}}}, "GET", "/readyz?verbose", 200, "[+]one ok\nreadyz check passed\n"},
		{"not ready", serve.Options{Ready: mixed}, "GET", "/readyz", 503, list + "readyz check failed\n"},
		{"not ready, HEAD", serve.Options{Ready: mixed}, "HEAD", "/readyz", 503, ""},
		{"not ready, but alive", serve.Options{Ready: mixed}, "GET", "/healthz", 200, "ok"},
		{"not healthy", serve.Options{Healthy: mixed}, "GET", "/healthz", 503, list + "healthz check failed\n"},
		{"metrics", serve.Options{Metrics: counts}, "GET", "/metrics", 200, "up 1\n"},
		{"no metrics", serve.Options{}, "GET", "/metrics", 404, "404 page not found\n"},
		{"the index", serve.Options{}, "GET", "/", 200, "/healthz\n/readyz\n"},
		{"the full index", serve.Options{Metrics: counts, Pprof: true}, "GET", "/", 200, "/healthz\n/readyz\n/metrics\n/debug/pprof/\n"},
		{"another path", serve.Options{}, "GET", "/healthz/one", 404, "404 page not found\n"},
		{"POST", serve.Options{}, "POST", "/healthz", 405, "Method Not Allowed\n"},
		{"DELETE", serve.Options{Metrics: counts}, "DELETE", "/metrics", 405, "Method Not Allowed\n"},
		{"pprof not asked for", serve.Options{Metrics: counts}, "GET", "/debug/pprof/", 404, "404 page not found\n"},
		{"pprof not asked for", serve.Options{Metrics: counts}, "GET", "/debug/pprof/cmdline", 404, "404 page not found\n"},
		{"POST to pprof", serve.Options{Pprof: true}, "POST", "/debug/pprof/symbol", 405, "Method Not Allowed\n"},
	} {
		server := httptest.NewServer(serve.Handler(test.options))
		code, body := ask(t, server.Client(), test.method, server.URL+test.path)
		if code != test.code {
			t.Errorf("%s: %s %s: code %d, want %d", test.reason, test.method, test.path, code, test.code)
		}
		if diff := cmp.Diff(test.body, body); diff != "" {
			t.Errorf("%s: %s %s (-want +got):\n%s", test.reason, test.method, test.path, diff)
		}
		server.Close()
	}
}

// Each kind of profile is there when it is asked for.
func TestPprof(t *testing.T) {
	server := httptest.NewServer(serve.Handler(serve.Options{Pprof: true}))
	defer server.Close()
	for path, want := range map[string]string{
		"/debug/pprof/":                  "goroutine",
		"/debug/pprof/cmdline":           "serve.test",
		"/debug/pprof/goroutine?debug=1": "goroutine profile:",
		"/debug/pprof/heap?debug=1":      "heap profile:",
		"/debug/pprof/symbol":            "num_symbols",
		"/debug/pprof/trace?seconds=0.1": "go 1.",
	} {
		code, body := ask(t, server.Client(), "GET", server.URL+path)
		if code != 200 || !strings.Contains(body, want) {
			t.Errorf("%s: code %d and %.80q, want 200 and %q", path, code, body, want)
		}
	}
}
