package main

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// apply applies an object to basil.
func (w *world) apply(code int, query, body string) reply {
	w.Helper()
	return w.must(code, "PATCH", collection+"/basil?fieldManager="+query, body, "Content-Type", applyType)
}

// What two managers want is a conflict, which names the field and the other one, until one of them
// insists. What one leaves out goes, the other's stays.
func TestApply(t *testing.T) {
	w := newWorld(t)
	w.apply(http.StatusCreated, "alice", `{"metadata":{"finalizers":["example.com/a"],"labels":{"a":"a"}},"spec":{"cost":1}}`)
	w.apply(http.StatusOK, "bob", `{"metadata":{"finalizers":["example.com/b"],"labels":{"b":"b"},"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"c","uid":"u"}]}}`)
	const bob = `{"metadata":{"finalizers":["example.com/b"],"labels":{"b":"b"}},"spec":{"cost":2}}`
	conflict := w.apply(http.StatusConflict, "bob", bob)
	if !strings.Contains(conflict.message(), "alice") || !strings.Contains(conflict.message(), ".spec.cost") {
		t.Errorf("the conflict says %q", conflict.message())
	}
	w.apply(http.StatusOK, "bob&force=true", bob)
	got := w.apply(http.StatusOK, "alice", `{"spec":{"cost":2}}`)
	for path, want := range map[string]any{
		"metadata.finalizers": []any{"example.com/b"}, "metadata.labels": map[string]any{"b": "b"}, "metadata.ownerReferences": nil, "spec.cost": 2.0,
	} {
		if diff := cmp.Diff(want, got.get(path)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
	// The same once more changes nothing: no event, no new version. Nor does a patch.
	before := w.revision()
	w.apply(http.StatusOK, "alice", `{"spec":{"cost":2}}`)
	w.patch(http.StatusOK, collection+"/basil", `{"spec":{"cost":2}}`)
	if after := w.revision(); after != before {
		t.Errorf("revision %d, was %d", after, before)
	}
}

// A write that is no apply is noted as well, so that an apply conflicts with it. A client that says no
// manager is known by its User-Agent.
func TestManagedFields(t *testing.T) {
	w := newWorld(t)
	for query, manager := range map[string]string{"?fieldManager=carol": "carol", "": "dave"} {
		w.apply(http.StatusCreated, "alice", `{"spec":{"cost":1}}`)
		w.must(http.StatusOK, "PATCH", collection+"/basil"+query, `{"spec":{"cost":5}}`, "Content-Type", mergeType, "User-Agent", "dave/v1")
		conflict := w.apply(http.StatusConflict, "alice", `{"spec":{"cost":1}}`)
		if !strings.Contains(conflict.message(), strconv.Quote(manager)) {
			t.Errorf("the conflict says %q, want %s", conflict.message(), manager)
		}
		w.must(http.StatusOK, "DELETE", collection+"/basil", "")
	}
}

// A user who may patch and not create makes nothing new by an apply either. The API server has
// asked only whether they may patch.
func TestApplyNeedsCreate(t *testing.T) {
	w := newWorld(t)
	w.apply(http.StatusCreated, "alice", `{"spec":{"cost":1}}`)
	w.handler.authorize = func(_ context.Context, r *request) error {
		if r.verb == "create" {
			return apierrors.NewForbidden(resource, r.name, errors.New("no"))
		}
		return nil
	}
	w.apply(http.StatusOK, "alice", `{"spec":{"cost":2}}`)
	w.must(http.StatusOK, "DELETE", collection+"/basil", "")
	w.apply(http.StatusForbidden, "alice", `{"spec":{"cost":1}}`)
}
