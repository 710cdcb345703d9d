package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// world is the server without a cluster: each client is admin and may do everything.
type world struct {
	*testing.T
	handler *server
	http    *httptest.Server

	mu    sync.Mutex
	lines []string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, handler: newServer()}
	w.handler.log = w.note
	w.handler.authenticate = func(*http.Request) (user, error) { return user{User: "admin"}, nil }
	w.handler.authorize = func(context.Context, *request) error { return nil }
	w.http = httptest.NewServer(w.handler)
	t.Cleanup(func() {
		w.http.CloseClientConnections()
		w.http.Close()
	})
	return w
}

// note keeps a line of the log.
func (w *world) note(line string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines = append(w.lines, line)
}

// said returns the lines of the log that match a regular expression.
func (w *world) said(expression string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	isOther := func(line string) bool { return !regexp.MustCompile(expression).MatchString(line) }
	return slices.DeleteFunc(slices.Clone(w.lines), isOther)
}

// reply is an answer.
type reply struct {
	code   int
	header http.Header
	body   map[string]any
}

// message is the text of a Status.
func (r reply) message() string { return fmt.Sprint(r.body["message"]) }

// get returns a field by its path, "metadata.name".
func (r reply) get(path string) any {
	value, _, _ := unstructured.NestedFieldNoCopy(r.body, strings.Split(path, ".")...)
	return value
}

// revision is that of the storage.
func (w *world) revision() int64 {
	_, revision := w.handler.storage.list()
	return revision
}

// patch merges a patch into an object.
func (w *world) patch(code int, path, body string) reply {
	w.Helper()
	return w.must(code, "PATCH", path, body, "Content-Type", mergeType)
}

// send sends a request with a body of JSON, or of the type that the header names.
func (w *world) send(method, path, body string, header ...string) *http.Response {
	w.Helper()
	request, err := http.NewRequestWithContext(w.Context(), method, w.http.URL+path, strings.NewReader(body))
	if err != nil {
		w.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := w.http.Client().Do(request)
	if err != nil {
		w.Fatal(err)
	}
	return response
}

// do sends a request and reads the answer.
func (w *world) do(method, path, body string, header ...string) reply {
	w.Helper()
	response := w.send(method, path, body, header...)
	defer response.Body.Close()
	out := reply{code: response.StatusCode, header: response.Header}
	if err := json.NewDecoder(response.Body).Decode(&out.body); err != nil {
		w.Fatalf("%s %s: %v", method, path, err)
	}
	return out
}

// must is do with the code that the answer must have.
func (w *world) must(code int, method, path, body string, header ...string) reply {
	w.Helper()
	got := w.do(method, path, body, header...)
	if got.code != code {
		w.Fatalf("%s %s: %d %s, want %d", method, path, got.code, got.message(), code)
	}
	return got
}

// menu creates three toppings.
func (w *world) menu() {
	w.Helper()
	for name, cost := range map[string]int{"tomato": 50, "mozzarella": 100, "salami": 150} {
		w.must(http.StatusCreated, "POST", collection, fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"cost":%d}}`, name, cost))
	}
}

// eventually waits until condition returns nil.
func (w *world) eventually(what string, condition func() error) {
	w.Helper()
	var err error
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if err = condition(); err == nil {
			return
		}
	}
	w.Fatalf("%s: %v", what, err)
}
