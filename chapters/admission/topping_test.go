package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// An answer that is no Topping, which a client decodes without an error, is no decision.
func TestAnswerOfAnotherKind(t *testing.T) {
	for _, answer := range []string{"{}", `{"kind":"Status","apiVersion":"v1","status":"Success"}`, `{"kind":"Topping","apiVersion":"restaurant.programming-kubernetes.info/v1alpha1","metadata":{"name":"another"}}`} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, answer)
		}))
		defer server.Close()
		client, err := newClient(&rest.Config{Host: server.URL})
		if err != nil {
			t.Fatal(err)
		}
		exists, err := has(client, cache.NewStore(cache.MetaNamespaceKeyFunc))(t.Context(), "pineapple")
		if exists || err == nil {
			t.Errorf("%s: exists %t, error %v", answer, exists, err)
		}
	}
}
