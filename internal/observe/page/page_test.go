package page_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/byhand/internal/observe/page"
	"example.com/byhand/internal/observe/trace"
	"example.com/byhand/kit/serve"
)

// deadline is how long a test waits for an expected event.
const deadline = 10 * time.Second

func start(t *testing.T, address string, source *trace.History, o page.Options) *serve.Server {
	t.Helper()
	server, err := page.Listen(address, source, o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("Run returns %v, want nil", err)
			}
		case <-time.After(deadline):
			t.Error("Run does not return after its context has ended")
		}
	})
	return server
}

// send sends a request with headers, given as pairs, and returns the response. "Host" sets the
// request's host.
func send(t *testing.T, method, url string, headers ...string) *http.Response {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	t.Cleanup(cancel)
	request, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
		if headers[i] == "Host" {
			request.Host = headers[i+1]
		}
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

func ask(t *testing.T, method, url string, headers ...string) (*http.Response, string) {
	t.Helper()
	response := send(t, method, url, headers...)
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(body)
}

func TestFilesAndHeaders(t *testing.T) {
	server := start(t, "127.0.0.1:0", trace.Replay(), page.Options{})
	files, err := filepath.Glob("static/*")
	if err != nil || len(files) < 10 {
		t.Fatalf("found %d files in static/: %v", len(files), err)
	}
	types := map[string]string{".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}
	for _, file := range files {
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), "index.html")
		response, body := ask(t, http.MethodGet, server.URL+name)
		if response.StatusCode != http.StatusOK || body != string(want) {
			t.Errorf("%s: %s and %d bytes, want the file", file, response.Status, len(body))
		}
		got := map[string]string{}
		for _, header := range []string{"Content-Type", "Cache-Control", "X-Content-Type-Options", "Referrer-Policy", "Cross-Origin-Resource-Policy", "Access-Control-Allow-Origin"} {
			got[header] = response.Header.Get(header)
		}
		if diff := cmp.Diff(map[string]string{
			"Content-Type": types[filepath.Ext(file)], "Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff",
			"Referrer-Policy": "no-referrer", "Cross-Origin-Resource-Policy": "same-origin", "Access-Control-Allow-Origin": "",
		}, got); diff != "" {
			t.Errorf("%s: headers (-want +got):\n%s", file, diff)
		}
		policy := response.Header.Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "script-src 'self'", "connect-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'", "require-trusted-types-for 'script'"} {
			if !strings.Contains(policy, part) {
				t.Errorf("%s: the policy %q lacks %s", file, policy, part)
			}
		}
		if regexp.MustCompile(`unsafe|https?:|\*`).MatchString(policy) {
			t.Errorf("%s: the policy %q is not strict", file, policy)
		}
	}
}

// The code locations on the page and in the steps of its recording name existing functions.
func TestPlaces(t *testing.T) {
	content, err := os.ReadFile("static/parts.js")
	if err != nil {
		t.Fatal(err)
	}
	places := map[[2]string]string{}
	for _, place := range regexp.MustCompile(`\['([a-z][^']*/[^']+)', '([^']*)'\]`).FindAllStringSubmatch(string(content), -1) {
		places[[2]string{place[1], place[2]}] = "parts.js"
	}
	if len(places) < 15 {
		t.Fatalf("found %d places in parts.js", len(places))
	}
	recording, err := os.Open("recording.json")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = recording.Close() }()
	steps, err := trace.ReadRecording(recording)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range steps {
		places[[2]string{step.File, step.Func}] = fmt.Sprintf("step %d of recording.json", step.Seq)
	}
	for place, said := range places {
		file, name := place[0], place[1]
		source, err := os.ReadFile(filepath.Join("..", "..", "..", file))
		if err != nil {
			t.Error(err)
			continue
		}
		pattern := `(?m)^(func|type) ` + name + `\b`
		if receiver, method, ok := strings.Cut(name, "."); ok {
			pattern = `(?m)^func \((\w+ )?\*?` + receiver + `\) ` + method + `\(`
		}
		if name != "" && !regexp.MustCompile(pattern).Match(source) {
			t.Errorf("%s has no %s, which %s names", file, name, said)
		}
	}
}

// Requests from another site, and requests for another host name, are rejected. See serve.OwnHost
// for the other names.
func TestOthers(t *testing.T) {
	server := start(t, "127.0.0.1:0", trace.Replay(), page.Options{})
	for _, c := range []struct {
		host, site, mode string
		want             int
	}{
		{"localhost:9999", "same-origin", "cors", http.StatusOK},
		{"localhost:9999", "cross-site", "navigate", http.StatusOK},
		{"localhost:9999", "cross-site", "cors", http.StatusForbidden},
		{"localhost:9999", "cross-site", "no-cors", http.StatusForbidden},
		{"localhost:9999", "same-site", "navigate", http.StatusOK},
		{"localhost:9999", "same-site", "no-cors", http.StatusForbidden},
		{"rebound.example:9999", "none", "navigate", http.StatusMisdirectedRequest},
	} {
		for _, path := range []string{"", "main.js", "steps"} {
			if response, _ := ask(t, http.MethodHead, server.URL+path, "Host", c.host, "Sec-Fetch-Site", c.site, "Sec-Fetch-Mode", c.mode); response.StatusCode != c.want {
				t.Errorf("%+v, /%s: %s", c, path, response.Status)
			}
		}
	}
	remote := start(t, "0.0.0.0:0", trace.Replay(), page.Options{Remote: true})
	if response, _ := ask(t, http.MethodHead, remote.URL, "Host", "192.168.1.7:9999"); response.StatusCode != http.StatusOK {
		t.Errorf("from another machine: %s", response.Status)
	}
}

// An address that other machines can reach is rejected, with advice. The tests of serve.Listen have other
// invalid addresses.
func TestAddresses(t *testing.T) {
	for address, want := range map[string]string{
		":0":   `":0": other machines could reach it; give 127.0.0.1:PORT, or say --page-remote`,
		"8081": `"8081": address 8081: missing port in address: give HOST:PORT`,
	} {
		if _, err := page.Listen(address, trace.Replay(), page.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", address, err, want)
		}
	}
}

// A file that is not a recording is rejected with advice. TestRecordingMistakes in package trace has all
// errors of a recording.
func TestPlayOfBrokenFile(t *testing.T) {
	_, err := page.Play(log.New(io.Discard, "", 0), "page_test.go", "127.0.0.1:0", false)
	if err == nil || !strings.HasPrefix(err.Error(), "page_test.go: line 1 of the recording: ") || !strings.HasSuffix(err.Error(), ": make one with --trace=json") {
		t.Errorf("error %v, want the line and advice", err)
	}
}
