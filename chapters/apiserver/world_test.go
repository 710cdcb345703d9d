package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

const collection = "/apis/aggregated.restaurant.programming-kubernetes.info/v1beta1/toppings"

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
	w.handler.authorize = func(*http.Request, user) *apierrors.StatusError { return nil }
	w.http = httptest.NewServer(w.handler)
	t.Cleanup(func() {
		w.http.CloseClientConnections()
		w.http.Close()
	})
	return w
}

// note records a line of the log.
func (w *world) note(line string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines = append(w.lines, line)
}

func (w *world) logged(expression string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	isOther := func(line string) bool { return !regexp.MustCompile(expression).MatchString(line) }
	return slices.DeleteFunc(slices.Clone(w.lines), isOther)
}

// do sends a request, and returns the code and the message of the response.
func (w *world) do(method, path, body string, header ...string) (code int, message string) {
	w.Helper()
	request, err := http.NewRequestWithContext(w.Context(), method, w.http.URL+path, strings.NewReader(body))
	if err != nil {
		w.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := w.http.Client().Do(request)
	if err != nil {
		w.Fatal(err)
	}
	defer response.Body.Close()
	var answer struct{ Message string }
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		w.Fatalf("%s %s: %v", method, path, err)
	}
	return response.StatusCode, answer.Message
}

// must is do for a request whose response must have the code want.
func (w *world) must(want int, method, path, body string, header ...string) {
	w.Helper()
	if code, message := w.do(method, path, body, header...); code != want {
		w.Fatalf("%s %s: %d %s, want %d", method, path, code, message, want)
	}
}

func topping(name string, cost int) string {
	return fmt.Sprintf(`{"apiVersion":%q,"kind":"Topping","metadata":{"name":%q},"spec":{"cost":%d}}`, version, name, cost)
}

func (w *world) menu() {
	w.Helper()
	for name, cost := range map[string]int{"tomato": 50, "mozzarella": 100, "salami": 150} {
		w.must(http.StatusCreated, "POST", collection, topping(name, cost))
	}
}
