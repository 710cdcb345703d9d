package clientset_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// TestWatchDecodesEvents proves that each event of a stream arrives with its type
// and as the right Go type. ERROR is the one that hand-written clients get wrong:
// a scheme without the kinds of metav1.AddToGroupVersion decodes the first four,
// but turns "410 Expired, list anew" into "500, cannot decode".
func TestWatchDecodesEvents(t *testing.T) {
	eachKind(t, kind.testWatchDecodesEvents)
}

func (r resource[T, L, A]) testWatchDecodesEvents(t *testing.T) {
	object, bookmark := any(r.object).(runtime.Object), any(new(T)).(runtime.Object)
	bookmark.(metav1.Object).SetResourceVersion("9")
	stream := `{"type": "ADDED", "object": ` + r.objectWire() + `}
		{"type": "MODIFIED", "object": ` + r.objectWire() + `}
		{"type": "BOOKMARK", "object": {"apiVersion": "` + r.groupVersion + `", "kind": "` + r.kind + `", "metadata": {"resourceVersion": "9"}}}
		{"type": "DELETED", "object": ` + r.objectWire() + `}
		{"type": "ERROR", "object": {"apiVersion": "v1", "kind": "Status", "status": "Failure", "reason": "Expired", "code": 410}}`
	want := []watch.Event{
		{Type: watch.Added, Object: object},
		{Type: watch.Modified, Object: object},
		{Type: watch.Bookmark, Object: bookmark},
		{Type: watch.Deleted, Object: object},
		{Type: watch.Error, Object: &metav1.Status{Status: metav1.StatusFailure, Reason: metav1.StatusReasonExpired, Code: http.StatusGone}},
	}

	client := newClient(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		reply(w, http.StatusOK, stream)
	}))
	w, err := r.in(client, "shop").Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	// The channel is closed when the server ends the stream.
	var got []watch.Event
	for event := range w.ResultChan() {
		got = append(got, event)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}
