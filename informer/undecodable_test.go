package informer_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// An object that the Go type cannot hold stops the informer of its whole kind: the watch
// ends, each list fails, and the changes of other objects wait. The Store keeps what it
// has, and nothing is taken for deleted. Once the object is mended, the next list delivers
// everything. The same holds for an answer that is no list: a client decodes a Status into an
// empty one.
func TestUndecodableObject(t *testing.T) {
	pod := func(name, priority string) string {
		return fmt.Sprintf(`{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": %q}, "spec": {"priority": %s}}`, name, priority)
	}
	const tooLarge = "3000000000" // for an int32
	lists, heard := make(chan string), make(chan string, 10)
	start(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch verb(r) {
		case "streaming list":
			listThenWatch(w, r) // refuses it
		case "watch":
			_, _ = fmt.Fprintf(w, `{"type": "MODIFIED", "object": %s}{"type": "ADDED", "object": %s}`, pod("one", tooLarge), pod("two", "1"))
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		default:
			select {
			case list := <-lists:
				_, _ = io.WriteString(w, list)
			case <-r.Context().Done():
			}
		}
	}, options{handler: cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { heard <- "added " + obj.(metav1.Object).GetName() },
		UpdateFunc: func(_, obj any) { heard <- "updated " + obj.(metav1.Object).GetName() },
		DeleteFunc: func(any) { heard <- "deleted" },
	}}, newPods)

	answerWith := func(list string) {
		t.Helper()
		select {
		case lists <- list:
		case <-time.After(deadline):
			t.Fatal("nobody lists")
		}
	}
	answer := func(items ...string) {
		t.Helper()
		answerWith(`{"apiVersion": "v1", "kind": "PodList", "metadata": {"resourceVersion": "10"}, "items": [` + strings.Join(items, ",") + `]}`)
	}
	answer(pod("one", "1"))
	receive(t, heard, "added one")
	answer(pod("one", tooLarge), pod("two", "1"))
	// The next list is sent only after that one has failed.
	answerWith(`{"apiVersion": "v1", "kind": "Status", "status": "Success"}`)
	answer(pod("one", "2"), pod("two", "1"))
	receive(t, heard, "updated one")
	receive(t, heard, "added two")
}
