package main

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Each propagation policy leaves its finalizer for the garbage collector, and no other one.
func TestPropagation(t *testing.T) {
	w := newWorld(t)
	for policy, want := range map[string]any{
		"Foreground": []any{metav1.FinalizerDeleteDependents},
		"Orphan":     []any{metav1.FinalizerOrphanDependents},
		"Background": nil,
	} {
		w.must(http.StatusCreated, "POST", collection, `{"metadata":{"name":"herb"},"spec":{"cost":1}}`)
		got := w.must(http.StatusOK, "DELETE", collection+"/herb", fmt.Sprintf(`{"propagationPolicy":%q}`, policy))
		if diff := cmp.Diff(want, got.get("metadata.finalizers")); diff != "" {
			t.Errorf("%s: finalizers (-want +got):\n%s", policy, diff)
		}
		if want != nil {
			w.patch(http.StatusOK, collection+"/herb", `{"metadata":{"finalizers":null}}`)
		}
		w.must(http.StatusNotFound, "GET", collection+"/herb", "")
	}
}

// An object with a finalizer stays until that is removed, and no new one comes.
func TestFinalizer(t *testing.T) {
	w := newWorld(t)
	basil := collection + "/basil"
	w.must(http.StatusCreated, "POST", collection, `{"metadata":{"name":"basil","finalizers":["example.com/a","example.com/b"]},"spec":{"cost":1}}`)
	w.must(http.StatusOK, "DELETE", basil, "")
	// A second deletion changes nothing.
	got := w.must(http.StatusOK, "DELETE", basil, "")
	if got.get("metadata.deletionTimestamp") == nil || got.get("metadata.generation") != 2.0 {
		t.Errorf("after two deletions it is %v", got.body)
	}
	w.patch(http.StatusUnprocessableEntity, basil, `{"metadata":{"finalizers":["example.com/a","example.com/c"]}}`)
	w.patch(http.StatusOK, basil, `{"metadata":{"finalizers":["example.com/b"]}}`)
	w.patch(http.StatusOK, basil, `{"metadata":{"finalizers":null}}`)
	w.must(http.StatusNotFound, "GET", basil, "")
}
