package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestAttributes: method and URL determine RBAC's verb and resource. Discovery is not a resource.
func TestAttributes(t *testing.T) {
	w := newWorld(t)
	for _, test := range []struct{ method, path, want string }{
		{"GET", collection, "list toppings"},
		{"GET", collection + "/salami", "get toppings/salami"},
		{"GET", collection + "/salami/status", "get toppings/salami/status"},
		{"GET", collection + "?watch=1&fieldSelector=metadata.name%3Da", "watch toppings/a"},
		{"GET", collection + "?fieldSelector=metadata.name%3Da", "list toppings/a"},
		{"GET", collection + "?watch=0", "list toppings"},
		// Kubernetes reads every value but "0" and "false" as true.
		{"GET", collection + "?watch=yes", "watch toppings"},
		{"POST", collection, "create toppings"},
		// A user who may create one name must not create another.
		{"POST", collection + "?fieldSelector=metadata.name%3Da", "create toppings"},
		{"PUT", collection + "/a", "update toppings/a"},
		{"PATCH", collection + "/a", "patch toppings/a"},
		{"DELETE", collection + "/a", "delete toppings/a"},
		{"DELETE", collection, "deletecollection toppings"},
		{"GET", groupPath, ""},
	} {
		got := "nothing"
		w.handler.authorize = func(_ *http.Request, asks user) *apierrors.StatusError {
			got = ""
			if a := asks.ResourceAttributes; a != nil {
				got = a.Verb + " " + strings.TrimRight(a.Resource+"/"+a.Name+"/"+a.Subresource, "/")
			}
			return apierrors.NewForbidden(resource, "", nil)
		}
		w.must(http.StatusForbidden, test.method, test.path, "")
		if got != test.want {
			t.Errorf("%s %s: %q, want %q", test.method, test.path, got, test.want)
		}
	}
}

// TestRejected: each bad request gets its usual code, and a reason.
func TestRejected(t *testing.T) {
	w := newWorld(t)
	for _, test := range []struct {
		reason, method, path, body string
		code                       int
		want                       string
	}{
		{"an invalid name", "POST", collection, topping("A B", 1), 422, "metadata.name"},
		{"a negative cost", "POST", collection, topping("basil", -1), 422, "spec.cost"},
		{"no cost", "POST", collection, strings.Replace(topping("basil", 1), "cost", "price", 1), 422, "spec.cost"},
		{"more than the budget", "POST", collection, topping("truffle", 10_001), 403, "would cost 10001"},
		{"a long body", "POST", collection, strings.Repeat(" ", maxBody+1), 400, "too large"},
		{"a group of the API server in memory", "GET", "/api/v1/namespaces", "", 404, "not found"},
		{"a version with the same beginning", "GET", groupPath + "1/toppings", "", 404, "not found"},
	} {
		code, message := w.do(test.method, test.path, test.body)
		if code != test.code || !strings.Contains(message, test.want) {
			t.Errorf("%s: %d %s, want %d and %q", test.reason, code, message, test.code, test.want)
		}
	}
}

// TestBudget: the budget holds for concurrent writes. Ten toppings are created, each of which fits alone:
// one is stored.
func TestBudget(t *testing.T) {
	t.Cleanup(func() { toppings.Admit = admit })
	toppings.Admit = func(topping *unstructured.Unstructured, others []*unstructured.Unstructured) error {
		time.Sleep(time.Millisecond) // Without a lock another write would be admitted meanwhile.
		return admit(topping, others)
	}
	w := newWorld(t)
	var stored atomic.Int32
	var writing sync.WaitGroup
	for i := range 10 {
		writing.Go(func() {
			if code, _ := w.do("POST", collection, topping(fmt.Sprint("gold-", i), 6000)); code == http.StatusCreated {
				stored.Add(1)
			}
		})
	}
	writing.Wait()
	if stored.Load() != 1 {
		t.Errorf("%d toppings are stored, want 1", stored.Load())
	}
}

// TestDeadlines: a watch outlasts the deadlines of package serve. Other requests keep them.
func TestDeadlines(t *testing.T) {
	w := newWorld(t)
	for query, want := range map[string]int{"": 0, "?watch=true": 2} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // The watch ends after its first events.
		answer := &deadlines{ResponseRecorder: httptest.NewRecorder()}
		w.handler.ServeHTTP(answer, httptest.NewRequestWithContext(ctx, "GET", collection+query, nil))
		if answer.Code != http.StatusOK || answer.removed != want {
			t.Errorf("%q: code %d, and %d deadlines are removed, want %d", query, answer.Code, answer.removed, want)
		}
	}
}

// deadlines counts the deadlines that a handler removes.
type deadlines struct {
	*httptest.ResponseRecorder
	removed int
}

func (d *deadlines) remove(at time.Time) error {
	if at.IsZero() {
		d.removed++
	}
	return nil
}

func (d *deadlines) SetReadDeadline(at time.Time) error  { return d.remove(at) }
func (d *deadlines) SetWriteDeadline(at time.Time) error { return d.remove(at) }

// TestLog: a client chooses its name and the URL. Neither can write to the terminal that shows the log.
func TestLog(t *testing.T) {
	w := newWorld(t)
	w.handler.authenticate = func(*http.Request) (user, error) { return user{User: "\u009b31m"}, nil }
	w.do("GET", collection+"?x=\u009b31m", "")
	if lines := w.logged("GET"); len(lines) != 1 || strings.Contains(lines[0], "\u009b") {
		t.Errorf("the log has %q", lines)
	}
}
