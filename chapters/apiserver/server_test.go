package main

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// The method and the path say what is wanted, in RBAC's words.
func TestRoutes(t *testing.T) {
	for _, test := range []struct{ method, path, want string }{
		{"GET", beta + "toppings", "list v1beta1 toppings"},
		{"GET", alpha + "toppings/salami", "get v1alpha1 toppings salami"},
		{"GET", beta + "pizzas?watch=true", "watch v1beta1 pizzas"},
		{"GET", beta + "pizzas?watch=1&fieldSelector=metadata.name%3Da", "watch v1beta1 pizzas"},
		{"GET", beta + "pizzas?watch", "watch v1beta1 pizzas"},
		{"GET", beta + "pizzas?watch=True", "watch v1beta1 pizzas"},
		{"GET", beta + "pizzas?watch=False", "list v1beta1 pizzas"},
		{"GET", beta + "pizzas?watch=0", "list v1beta1 pizzas"},
		{"GET", beta + "namespaces/default/pizzas", "list v1beta1 pizzas default"},
		{"GET", beta + "namespaces/default/pizzas/a/price", "get v1beta1 pizzas default a price"},
		{"HEAD", beta + "toppings/a", "get v1beta1 toppings a"},
		{"POST", beta + "toppings", "create v1beta1 toppings"},
		{"PUT", beta + "toppings/a", "update v1beta1 toppings a"},
		{"PATCH", beta + "toppings/a", "patch v1beta1 toppings a"},
		{"DELETE", beta + "toppings/a", "delete v1beta1 toppings a"},
		{"DELETE", beta + "toppings", "deletecollection v1beta1 toppings"},
		{"GET", "/apis", "get"},
		{"GET", "/apis/" + group + "/v1beta2/toppings", "get"},
		{"GET", beta + "drinks", "get"},
		{"POST", "/", "post"},
	} {
		got := "nothing"
		s := &server{requests: newRoom(4), watches: newRoom(4)}
		s.log = func(string, ...any) {}
		s.authenticate = func(*http.Request) (user, error) { return user{}, nil }
		s.authorize = func(_ context.Context, r *request) error {
			words := []string{r.verb, r.version.Version, r.kind.groupResource().Resource, r.namespace, r.name, r.subresource}
			got = strings.Join(strings.Fields(strings.Join(words, " ")), " ")
			return errors.New("no")
		}
		s.routes().ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(test.method, test.path, nil))
		if got != test.want {
			t.Errorf("%s %s: %q, want %q", test.method, test.path, got, test.want)
		}
	}
}

// Too many at once are sent away, and told when to come back.
func TestTooMany(t *testing.T) {
	w := newWorld(t)
	w.handler.requests, w.handler.watches = newRoom(0), newRoom(0)
	for _, query := range []string{"", "?watch=true"} {
		got := w.must(http.StatusTooManyRequests, "GET", beta+"toppings"+query, "")
		if got.header.Get("Retry-After") == "" {
			t.Errorf("%q: no Retry-After", query)
		}
	}
}

// A user who takes all that one may take leaves room for others, who can fill it, and gives
// back what is over.
func TestRoom(t *testing.T) {
	room := newRoom(8)
	takes := func(user string, want bool) func() {
		t.Helper()
		leave, err := room.enter(user)
		if got := err == nil; got != want {
			t.Errorf("%s gets room: %t, want %t", user, got, want)
		}
		return leave
	}
	takes("alice", true)
	leave := takes("alice", true)
	takes("alice", false)
	for _, user := range []string{"bob", "carol", "dave"} {
		takes(user, true)
		takes(user, true)
	}
	takes("erin", false)
	leave()
	takes("alice", true)
}

// A request that is no watch ends in time, also while it waits for the API server.
func TestRequestTime(t *testing.T) {
	w := newWorld(t)
	var left time.Duration
	w.handler.authorize = func(ctx context.Context, _ *request) error {
		end, _ := ctx.Deadline()
		left = time.Until(end)
		return errors.New("no")
	}
	w.must(http.StatusInternalServerError, "GET", beta+"toppings", "")
	if left <= 0 || left > requestTime {
		t.Errorf("it has %v, want at most %v", left, requestTime)
	}
}

// What a client chooses cannot write to the terminal that shows the log.
func TestLog(t *testing.T) {
	w := newWorld(t)
	w.handler.authenticate = func(*http.Request) (user, error) { return user{User: "\u009b31m"}, nil }
	w.do("GET", beta+"toppings?x=\u009b31m", "")
	if lines := w.said("\u009b"); len(lines) > 0 {
		t.Errorf("the log has %q", lines)
	}
}
