package main

import (
	"testing"

	"k8s.io/client-go/tools/cache"

	"example.com/byhand/chapters/internal/chaptertest"
)

// An answer that is no Topping, which a client decodes without an error, is no decision.
func TestAnswerOfAnotherKind(t *testing.T) {
	for _, answer := range []string{`{"kind":"Status","apiVersion":"v1","status":"Success"}`, `{"kind":"Topping","apiVersion":"restaurant.programming-kubernetes.info/v1alpha1","metadata":{"name":"another"}}`} {
		request := "GET /apis/restaurant.programming-kubernetes.info/v1alpha1/toppings/pineapple"
		client, err := newClient(chaptertest.Expect(t, chaptertest.Exchange{Request: request, Code: 200, Answer: answer}))
		if err != nil {
			t.Fatal(err)
		}
		exists, err := has(client, cache.NewStore(cache.MetaNamespaceKeyFunc))(t.Context(), "pineapple")
		if exists || err == nil {
			t.Errorf("%s: exists %t, error %v", answer, exists, err)
		}
	}
}
