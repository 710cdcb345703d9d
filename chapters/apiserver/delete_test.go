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
	w.menu()
	for i, test := range []struct {
		options string
		want    any
	}{
		{`{"propagationPolicy":"Foreground"}`, []any{metav1.FinalizerDeleteDependents}},
		{`{"propagationPolicy":"Orphan"}`, []any{metav1.FinalizerOrphanDependents}},
		{`{"propagationPolicy":"Background"}`, nil},
		{`{"orphanDependents":true}`, []any{metav1.FinalizerOrphanDependents}},
		{`{"orphanDependents":false}`, nil},
		{`{}`, nil},
	} {
		name := fmt.Sprintf("pizza-%d", i)
		w.bake(name, "tomato")
		got := w.must(http.StatusOK, "DELETE", beta+inDefault+"/"+name, test.options)
		if diff := cmp.Diff(test.want, got.get("metadata.finalizers")); diff != "" {
			t.Errorf("%s: finalizers (-want +got):\n%s", test.options, diff)
		}
		after := w.do("GET", beta+inDefault+"/"+name, "")
		if isGone := after.code == http.StatusNotFound; isGone != (test.want == nil) {
			t.Errorf("%s: it is gone: %t", test.options, isGone)
		}
	}
}

// An object with a finalizer stays until that is removed. No new one comes, and a topping
// that waits is on no new pizza.
func TestFinalizer(t *testing.T) {
	w := newWorld(t)
	w.menu()
	const basil = beta + "toppings/basil"
	w.must(http.StatusCreated, "POST", beta+"toppings", `{"metadata":{"name":"basil","finalizers":["example.com/a","example.com/b"]},"spec":{"cost":1}}`)
	if got := w.must(http.StatusOK, "DELETE", basil, ""); got.get("metadata.deletionTimestamp") == nil {
		t.Error("it has no deletionTimestamp")
	}
	stamp := w.must(http.StatusOK, "GET", basil, "").get("metadata.deletionTimestamp")
	if again := w.must(http.StatusOK, "DELETE", basil, "").get("metadata.deletionTimestamp"); again != stamp {
		t.Errorf("a second deletion is at %v, the first was at %v", again, stamp)
	}
	w.patch(http.StatusUnprocessableEntity, basil, `{"metadata":{"finalizers":["example.com/a","example.com/c"]}}`)
	w.must(http.StatusUnprocessableEntity, "POST", alpha+inDefault, `{"metadata":{"name":"a"},"spec":{"toppings":["basil"]}}`)
	w.patch(http.StatusOK, basil, `{"metadata":{"finalizers":["example.com/b"]}}`)
	w.patch(http.StatusOK, basil, `{"metadata":{"finalizers":null}}`)
	w.must(http.StatusNotFound, "GET", basil, "")
}

// All in a namespace that match a selector go, and no others.
func TestDeleteCollection(t *testing.T) {
	w := newWorld(t)
	w.menu()
	for _, name := range []string{"a", "b", "c"} {
		w.bake(name, "tomato")
	}
	w.patch(http.StatusOK, beta+inDefault+"/c", `{"metadata":{"labels":{"keep":"yes"}}}`)
	got := w.must(http.StatusOK, "DELETE", beta+inDefault+"?labelSelector=keep%21%3Dyes", "")
	if items := got.body["items"].([]any); len(items) != 2 {
		t.Errorf("%d are deleted, want 2", len(items))
	}
	w.must(http.StatusOK, "GET", beta+inDefault+"/c", "")
	w.must(http.StatusNotFound, "GET", beta+inDefault+"/a", "")
	// Toppings go one by one: what is in use stays.
	w.must(http.StatusConflict, "DELETE", beta+"toppings", "")
	w.must(http.StatusOK, "GET", beta+"toppings/tomato", "")
}
