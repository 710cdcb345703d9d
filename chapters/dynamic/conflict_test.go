package main

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var foos = schema.GroupVersionResource{Group: "samplecontroller.k8s.io", Version: "v1alpha1", Resource: "foos"}

// Two writers who have both read before either writes: one of them is refused, in each
// round, and no update is lost.
func TestCollide(t *testing.T) {
	stdout, _, err := newServer(t).dynamic(t, "collide fo example-foo")
	refused := strings.Count(stdout, " reads again: Operation cannot be fulfilled")
	const want = "\n10 updates, 5 conflicts: byhand.example.com/count went from 0 to 10\n"
	if err != nil || refused != rounds || !strings.HasSuffix(stdout, want) {
		t.Errorf("%d are refused, %v, want %d and %q:\n%s", refused, err, rounds, want, stdout)
	}
}

// An error of one writer ends both: the other one does not wait for it.
func TestCollideFails(t *testing.T) {
	s := newServer(t)
	client := s.client(t)
	none := func(_ int, err error) { t.Errorf("conflict: %v", err) }
	// One of them has read, and waits for the other one, who may not.
	gets := atomic.Int32{}
	s.api.Refuse(func(*http.Request) *apierrors.StatusError {
		if gets.Add(1) < 2 {
			return nil
		}
		return apierrors.NewForbidden(foos.GroupResource(), "example-foo", nil)
	})
	if err := client.Collide(t.Context(), foos, "default", "example-foo", none); !apierrors.IsForbidden(err) {
		t.Errorf("one reads, the other one may not: %v", err)
	}
	s.api.Refuse(nil)
	s.api.Edit(fooPath, func(foo *unstructured.Unstructured) { foo.SetAnnotations(map[string]string{counter: "many"}) })
	if err := client.Collide(t.Context(), foos, "default", "example-foo", none); err == nil || !strings.Contains(err.Error(), `"many" and no number`) {
		t.Errorf("no number: %v", err)
	}
}
