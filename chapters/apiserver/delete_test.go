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
	for i, test := range []struct {
		options string
		want    any
	}{
		{`{"propagationPolicy":"Foreground"}`, []any{metav1.FinalizerDeleteDependents}},
		{`{"propagationPolicy":"Orphan"}`, []any{metav1.FinalizerOrphanDependents}},
		{`{"propagationPolicy":"Background"}`, nil},
		{`{}`, nil},
	} {
		path := fmt.Sprintf("%s/herb-%d", collection, i)
		w.must(http.StatusCreated, "POST", collection, fmt.Sprintf(`{"metadata":{"name":"herb-%d"},"spec":{"cost":1}}`, i))
		got := w.must(http.StatusOK, "DELETE", path, test.options)
		if diff := cmp.Diff(test.want, got.get("metadata.finalizers")); diff != "" {
			t.Errorf("%s: finalizers (-want +got):\n%s", test.options, diff)
		}
		after := w.do("GET", path, "")
		if isGone := after.code == http.StatusNotFound; isGone != (test.want == nil) {
			t.Errorf("%s: it is gone: %t", test.options, isGone)
		}
	}
}

// An object with a finalizer stays until that is removed, and no new one comes.
func TestFinalizer(t *testing.T) {
	w := newWorld(t)
	basil := collection + "/basil"
	w.must(http.StatusCreated, "POST", collection, `{"metadata":{"name":"basil","finalizers":["example.com/a","example.com/b"]},"spec":{"cost":1}}`)
	if got := w.must(http.StatusOK, "DELETE", basil, ""); got.get("metadata.deletionTimestamp") == nil {
		t.Error("it has no deletionTimestamp")
	}
	stamp := w.must(http.StatusOK, "GET", basil, "").get("metadata.deletionTimestamp")
	if again := w.must(http.StatusOK, "DELETE", basil, "").get("metadata.deletionTimestamp"); again != stamp {
		t.Errorf("a second deletion is at %v, the first was at %v", again, stamp)
	}
	w.patch(http.StatusUnprocessableEntity, basil, `{"metadata":{"finalizers":["example.com/a","example.com/c"]}}`)
	w.patch(http.StatusOK, basil, `{"metadata":{"finalizers":["example.com/b"]}}`)
	w.patch(http.StatusOK, basil, `{"metadata":{"finalizers":null}}`)
	w.must(http.StatusNotFound, "GET", basil, "")
}
