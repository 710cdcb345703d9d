package clientset_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// TestWatchStreamBreaks states what a watch makes of streams that a server should
// not send. What was whole before still arrives, nothing after it does, and the
// channel is closed each time. A stream that breaks off does so without a word, as
// if the server had ended it: a reflector goes on from the last resourceVersion
// that it saw. What cannot be understood is an ERROR event first.
func TestWatchStreamBreaks(t *testing.T) { eachKind(t, kind.testWatchStreamBreaks) }

func (r resource[T, L, A]) testWatchStreamBreaks(t *testing.T) {
	added := `{"type": "ADDED", "object": ` + r.objectWire() + `}`
	pebble := `{"apiVersion": "` + r.groupVersion + `", "kind": "Pebble"}`
	for _, test := range []struct {
		name, then string
		abort      bool   // the connection, instead of ending the reply
		want       string // in the message of the ERROR event; "" for no event
	}{
		{name: "it ends", then: ""},
		{name: "it ends within an event", then: added[:len(added)/2]},
		{name: "the connection is cut between two events", abort: true},
		{name: "the connection is cut within an event", then: added[:len(added)/2], abort: true},
		{name: "an unknown type of event", then: `{"type": "FUNNY", "object": ` + r.objectWire() + `}`, want: "invalid watch event type: FUNNY"},
		{name: "no type of event", then: `{"object": ` + r.objectWire() + `}`, want: "invalid watch event type"},
		{name: "an object of unknown kind", then: `{"type": "ADDED", "object": ` + pebble + `}`, want: "no kind"},
		{name: "an object without a kind", then: `{"type": "ADDED", "object": {"metadata": {"name": "one"}}}`, want: "'Kind' is missing"},
		{name: "no object", then: `{"type": "ADDED"}`, want: "unexpected end of JSON input"},
		{name: "an event of another shape", then: `["ADDED"]`, want: "cannot unmarshal array"},
		{name: "no JSON", then: `<html>Bad gateway</html>`, want: "invalid character '<'"},
	} {
		t.Run(test.name, func(t *testing.T) {
			client := newClient(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
				reply(w, http.StatusOK, added+test.then)
				if test.abort {
					w.(http.Flusher).Flush()
					panic(http.ErrAbortHandler)
				}
				if test.want != "" {
					io.WriteString(w, added) // which the caller may not see any more
				}
			}))
			w, err := r.in(client, "shop").Watch(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer w.Stop()

			if event := next(t, w); event.Type != watch.Added {
				t.Errorf("first event %v, want the one before the break", event)
			}
			if test.want != "" {
				event := next(t, w)
				status, ok := event.Object.(*metav1.Status)
				if event.Type != watch.Error || !ok || status.Code != http.StatusInternalServerError || !strings.Contains(status.Message, test.want) {
					t.Errorf("event %v, want %s with a Status of code 500 that says %q", event, watch.Error, test.want)
				}
			}
			waitClosed(t, w)
			noneLeft(t, inWatch, inRequest)
		})
	}
}

// TestWatchDeliversAnyKnownKind states that a watch does not look at what kind of
// object an event brings, as long as its kind is of the scheme: who receives it must.
func TestWatchDeliversAnyKnownKind(t *testing.T) {
	client := newClient(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		reply(w, http.StatusOK, `{"type": "ADDED", "object": `+projects.objectWire()+`}`)
	}))
	got, err := firstObject(client.SamplecontrollerV1alpha1().Foos("shop").Watch(t.Context(), metav1.ListOptions{}))
	if _, ok := got.(*project); !ok || err != nil {
		t.Errorf("a %T and error %v from a watch of Foos to which the server sent a Project", got, err)
	}
}

// TestNoGoroutineIsLeft proves that nothing goes on after Stop, and after a call that
// was cancelled, while the server would go on: the client has no goroutine left, the
// server sees the request end, and the watch's channel is closed. The end of the
// context alone ends the request, but not the goroutine of a watch that its caller
// does not read: it waits to deliver an ERROR event.
func TestNoGoroutineIsLeft(t *testing.T) { eachKind(t, kind.testNoGoroutineIsLeft) }

func (r resource[T, L, A]) testNoGoroutineIsLeft(t *testing.T) {
	added := `{"type": "ADDED", "object": ` + r.objectWire() + `}`
	watching := func(t *testing.T, stream string) (w watch.Interface, cancel context.CancelFunc, ended <-chan struct{}) {
		t.Helper()
		gone := make(chan struct{})
		client := newClient(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
			reply(w, http.StatusOK, stream)
			w.(http.Flusher).Flush()
			holdOn(r)
			close(gone)
		}))
		ctx, cancel := context.WithCancel(t.Context())
		t.Cleanup(cancel)
		w, err := r.in(client, "shop").Watch(ctx, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(w.Stop)
		if len(goroutines(inWatch)) == 0 {
			t.Fatal("no goroutine receives the events: this test looks for the wrong one")
		}
		return w, cancel, gone
	}

	t.Run("Stop", func(t *testing.T) {
		w, _, ended := watching(t, "")
		w.Stop()
		noneLeft(t, inWatch, inRequest, inConnection)
		<-ended
		waitClosed(t, w)
	})
	t.Run("Stop with an event that the caller has not taken", func(t *testing.T) {
		w, _, _ := watching(t, added)
		w.Stop()
		noneLeft(t, inWatch, inRequest, inConnection)
	})
	t.Run("Stop twice", func(t *testing.T) {
		w, _, _ := watching(t, "")
		w.Stop()
		w.Stop()
		noneLeft(t, inWatch, inRequest, inConnection)
	})
	t.Run("the context", func(t *testing.T) {
		w, cancel, ended := watching(t, "")
		cancel()
		// client-go tells it as an ERROR event, as if it came from the server.
		event := next(t, w)
		status, ok := event.Object.(*metav1.Status)
		if event.Type != watch.Error || !ok || !strings.Contains(status.Message, context.Canceled.Error()) {
			t.Errorf("event %v, want %s with a Status that says %q", event, watch.Error, context.Canceled)
		}
		waitClosed(t, w)
		noneLeft(t, inWatch, inRequest, inConnection)
		<-ended
	})
	for name, stream := range map[string]string{"no": "", "an": added} {
		t.Run("the context is not enough if the caller does not read, with "+name+" event", func(t *testing.T) {
			w, cancel, ended := watching(t, stream)
			cancel()
			<-ended
			noneLeft(t, inRequest, inConnection)
			if len(goroutines(inWatch)) == 0 {
				t.Error("no goroutine waits for a reader: Stop would not be needed")
			}
			w.Stop()
			noneLeft(t, inWatch, inRequest, inConnection)
		})
	}
	t.Run("a cancelled call", func(t *testing.T) {
		arrived := make(chan struct{})
		client := newClient(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
			close(arrived)
			holdOn(r)
		}))
		ctx, cancel := context.WithTimeout(t.Context(), deadline)
		defer cancel()
		go func() {
			<-arrived
			cancel()
		}()
		if _, err := r.in(client, "shop").Get(ctx, "one", metav1.GetOptions{}); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want %v", err, context.Canceled)
		}
		noneLeft(t, inWatch, inRequest, inConnection)
	})
}

// What goroutines of a client are recognized by: one that receives events, one that
// sends a request, one that holds a connection.
const (
	inWatch      = "k8s.io/apimachinery/pkg/watch.NewStreamWatcherWithLogger"
	inRequest    = "k8s.io/client-go/rest.(*Request)"
	inConnection = "net/http.(*persistConn)"
)

// noneLeft waits until no goroutine of any client is left in one of functions. After
// a reply that ended well, one in inConnection may stay: the connection is kept for
// the next request.
func noneLeft(t *testing.T, functions ...string) {
	t.Helper()
	var left []string
	for end := time.Now().Add(deadline); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if left = goroutines(functions...); len(left) == 0 {
			return
		}
	}
	t.Fatalf("%d goroutines are left:\n%s", len(left), strings.Join(left, "\n\n"))
}

// goroutines returns the stack of each goroutine that is in, or was started by, one
// of functions.
func goroutines(functions ...string) []string {
	buffer := make([]byte, 1<<20)
	buffer = buffer[:runtime.Stack(buffer, true)]
	var stacks []string
	for stack := range strings.SplitSeq(string(buffer), "\n\n") {
		for _, function := range functions {
			if strings.Contains(stack, function) {
				stacks = append(stacks, stack)
				break
			}
		}
	}
	return stacks
}

// next waits for an event.
func next(t *testing.T, w watch.Interface) watch.Event {
	t.Helper()
	select {
	case event, open := <-w.ResultChan():
		if !open {
			t.Fatal("the channel is closed")
		}
		return event
	case <-time.After(deadline):
		t.Fatal("no event")
	}
	return watch.Event{}
}

// waitClosed waits until the channel of w is closed. No event may come before.
func waitClosed(t *testing.T, w watch.Interface) {
	t.Helper()
	select {
	case event, open := <-w.ResultChan():
		if open {
			t.Errorf("event %v, want none", event)
		}
	case <-time.After(deadline):
		t.Fatal("the channel is still open")
	}
}
