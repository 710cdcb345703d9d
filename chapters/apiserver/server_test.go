package main

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// The method and the path say what is wanted, in RBAC's words.
func TestRoutes(t *testing.T) {
	for _, test := range []struct{ method, path, want string }{
		{"GET", beta + "toppings", "list v1beta1 toppings"},
		{"GET", alpha + "toppings/salami", "get v1alpha1 toppings salami"},
		{"GET", beta + "pizzas?watch=true", "watch v1beta1 pizzas"},
		{"GET", beta + "pizzas?watch=1&fieldSelector=metadata.name%3Da", "watch v1beta1 pizzas"},
		{"GET", beta + "pizzas?watch=false", "list v1beta1 pizzas"},
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
		s := &server{stage: 3, openAPI: &openAPI{}, requests: make(chan struct{}, 1), watchers: make(chan struct{}, 1)}
		s.log = func(string, ...any) {}
		s.authenticate = func(*http.Request) (user, error) { return user{}, nil }
		s.authorize = func(_ context.Context, r *request) error {
			words := []string{r.verb, r.version.Version, r.groupResource().Resource, r.namespace, r.name, r.subresource}
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
	w.handler.requests, w.handler.watchers = make(chan struct{}), make(chan struct{})
	for _, query := range []string{"", "?watch=true"} {
		got := w.must(http.StatusTooManyRequests, "GET", beta+"toppings"+query, "")
		if got.header.Get("Retry-After") == "" {
			t.Errorf("%q: no Retry-After", query)
		}
	}
}
