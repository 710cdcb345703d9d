package clientset_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"example.com/byhand/internal/tests/samples"
)

// TestWatchDecodesEvents proves that each event of a stream arrives with its type, and its object
// with the expected Go type. Without metav1.AddToGroupVersion in the scheme, only ERROR events are
// not decoded: "410 Expired" becomes "500, cannot decode".
func TestWatchDecodesEvents(t *testing.T) { eachKind(t, testWatchDecodesEvents) }

func testWatchDecodesEvents(t *testing.T, k kind) {
	bookmark := k.empty(t)
	bookmark.(metav1.Object).SetResourceVersion("9")
	events := `{"type": "ADDED", "object": ` + k.objectWire() + `}
		{"type": "MODIFIED", "object": ` + k.objectWire() + `}
		{"type": "BOOKMARK", "object": {"apiVersion": "` + k.GroupVersion().String() + `", "kind": "` + k.Kind.Kind + `", "metadata": {"resourceVersion": "9"}}}
		{"type": "DELETED", "object": ` + k.objectWire() + `}
		{"type": "ERROR", "object": {"apiVersion": "v1", "kind": "Status", "status": "Failure", "reason": "Expired", "code": 410}}`
	want := []watch.Event{
		{Type: watch.Added, Object: k.Object},
		{Type: watch.Modified, Object: k.Object},
		{Type: watch.Bookmark, Object: bookmark},
		{Type: watch.Deleted, Object: k.Object},
		{Type: watch.Error, Object: &metav1.Status{Status: metav1.StatusFailure, Reason: metav1.StatusReasonExpired, Code: http.StatusGone}},
	}

	client := newClient(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		reply(w, http.StatusOK, events)
	}))
	w, err := samples.Call(t.Context(), k.Client(client, "shop"), "Watch", metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	stream := w.(watch.Interface)
	defer stream.Stop()
	// The channel is closed when the server ends the stream.
	var got []watch.Event
	for event := range stream.ResultChan() {
		got = append(got, event)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}
