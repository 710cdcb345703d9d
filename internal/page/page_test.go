package page_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/byhand/internal/page"
	"example.com/byhand/internal/serve"
	"example.com/byhand/internal/trace"
)

// deadline is how long a test waits for what must happen.
const deadline = 10 * time.Second

// start runs a server on a free port until the test ends.
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

// ask sends a request with headers, given as pairs, and returns the answer with
// its body read. "Host" sets the request's host.
func ask(t *testing.T, method, url string, headers ...string) (*http.Response, string) {
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
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(body)
}

// port is the port of a server's URL.
func port(t *testing.T, server *serve.Server) string {
	t.Helper()
	_, port, err := net.SplitHostPort(strings.Trim(strings.TrimPrefix(server.URL, "http://"), "/"))
	if err != nil {
		t.Fatal(err)
	}
	return port
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

// TestNothingFromElsewhere reads the files as a browser would.
func TestNothingFromElsewhere(t *testing.T) {
	files, err := filepath.Glob("static/*")
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := regexp.MustCompile(`(?i)https?://|//[a-z0-9.-]+\.[a-z]{2,}/|@import|\bimport\(`)
	markup := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser`)
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for n, line := range strings.Split(string(content), "\n") {
			if found := elsewhere.FindString(line); found != "" && !strings.Contains(line, "http://www.w3.org/2000/svg") {
				t.Errorf("%s:%d: %s: another host", file, n+1, found)
			}
			if found := markup.FindString(line); found != "" {
				t.Errorf("%s:%d: %s: text can become markup or code", file, n+1, found)
			}
		}
	}
}

// TestPlaces looks up what the page says of where code stands.
func TestPlaces(t *testing.T) {
	content, err := os.ReadFile("static/parts.js")
	if err != nil {
		t.Fatal(err)
	}
	places := regexp.MustCompile(`\['([a-z][^']*/[^']+)', '([^']*)'\]`).FindAllStringSubmatch(string(content), -1)
	if len(places) < 15 {
		t.Fatalf("found %d places in parts.js", len(places))
	}
	for _, place := range places {
		file, name := place[1], place[2]
		source, err := os.ReadFile(filepath.Join("..", "..", file))
		if err != nil {
			t.Error(err)
			continue
		}
		pattern := `(?m)^(func|type) ` + name + `\b`
		if receiver, method, ok := strings.Cut(name, "."); ok {
			pattern = `(?m)^func \(\w+ \*?` + receiver + `\) ` + method + `\(`
		}
		if name != "" && !regexp.MustCompile(pattern).Match(source) {
			t.Errorf("%s has no %s", file, name)
		}
	}
}

func TestMethods(t *testing.T) {
	server := start(t, "127.0.0.1:0", trace.Replay(), page.Options{})
	for _, path := range []string{"", "steps", "main.js"} {
		if response, body := ask(t, http.MethodHead, server.URL+path); response.StatusCode != http.StatusOK || body != "" {
			t.Errorf("HEAD /%s: %s and %d bytes, want 200 and none", path, response.Status, len(body))
		}
		for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions} {
			if response, _ := ask(t, method, server.URL+path); response.StatusCode != http.StatusMethodNotAllowed {
				t.Errorf("%s /%s: %s, want 405", method, path, response.Status)
			}
		}
	}
	for _, path := range []string{"static/main.js", "..%2fhandler.go", "index.htm", "main.js/"} {
		if response, _ := ask(t, http.MethodGet, server.URL+path); response.StatusCode != http.StatusNotFound {
			t.Errorf("GET /%s: %s, want 404", path, response.Status)
		}
	}
}

// serve.OwnHost has the other cases.
func TestHost(t *testing.T) {
	server := start(t, "127.0.0.1:0", trace.Replay(), page.Options{})
	for host, want := range map[string]int{
		"localhost:" + port(t, server): http.StatusOK,
		"localhost:9999":               http.StatusOK,
		"rebound.example:9999":         http.StatusMisdirectedRequest,
	} {
		for _, path := range []string{"", "main.js", "steps"} {
			response, _ := ask(t, http.MethodHead, server.URL+path, "Host", host)
			if response.StatusCode != want {
				t.Errorf("Host %s, /%s: %s, want %d", host, path, response.Status, want)
			}
		}
	}
}

func TestOtherSites(t *testing.T) {
	server := start(t, "127.0.0.1:0", trace.Replay(), page.Options{})
	for _, c := range []struct {
		site, mode string
		want       int
	}{
		{"same-origin", "cors", http.StatusOK},
		{"none", "navigate", http.StatusOK},
		{"cross-site", "navigate", http.StatusOK},
		{"cross-site", "cors", http.StatusForbidden},
		{"cross-site", "no-cors", http.StatusForbidden},
	} {
		response, _ := ask(t, http.MethodGet, server.URL+"main.js", "Sec-Fetch-Site", c.site, "Sec-Fetch-Mode", c.mode)
		if response.StatusCode != c.want {
			t.Errorf("%s, %s: %s, want %d", c.site, c.mode, response.Status, c.want)
		}
	}
}

func TestAddresses(t *testing.T) {
	taken := start(t, "127.0.0.1:0", trace.Replay(), page.Options{})
	for address, want := range map[string]string{
		"127.0.0.1:" + port(t, taken): "another process listens there; give another port",
		":0":                          "other machines could reach it; give 127.0.0.1:PORT, or say --page-remote",
		"0.0.0.0:0":                   "other machines could reach it",
		"[::]:0":                      "other machines could reach it",
		"192.0.2.1:8081":              "other machines could reach it",
		"8081":                        "give HOST:PORT, such as 127.0.0.1:8080",
		"127.0.0.1":                   "give HOST:PORT",
		"127.0.0.1:port":              "give HOST:PORT",
		"127.0.0.1:99999":             "give HOST:PORT",
	} {
		server, err := page.Listen(address, trace.Replay(), page.Options{})
		if err == nil {
			t.Errorf("%q: listens at %s, want an error", address, server.URL)
			continue
		}
		if !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), fmt.Sprintf("%q", address)) {
			t.Errorf("%q: %v\nwant the address and %q", address, err, want)
		}
	}
}

func TestRemote(t *testing.T) {
	server := start(t, "0.0.0.0:0", trace.Replay(), page.Options{Remote: true})
	own := port(t, server)
	if !strings.HasPrefix(server.URL, "http://localhost:") {
		t.Errorf("the URL is %s, want one that a browser here can open", server.URL)
	}
	for host, want := range map[string]int{
		"192.168.1.7:" + own:     http.StatusOK,
		"rebound.example:" + own: http.StatusMisdirectedRequest,
	} {
		if response, _ := ask(t, http.MethodGet, "http://127.0.0.1:"+own+"/", "Host", host); response.StatusCode != want {
			t.Errorf("Host %s: %s, want %d", host, response.Status, want)
		}
	}
}
