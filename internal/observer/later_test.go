package observer

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/controller"
	"example.com/byhand/internal/trace"
)

// late does something while no goroutine publishes, which is told after it. If anything that
// it does waits for that, it does not return.
func late(r *Observer, do func()) {
	r.publishing.Lock()
	do()
	r.publish(0)
	r.publishing.Unlock()
}

// A whole way while no goroutine publishes: it does not wait. What is told afterwards is
// what was so when it happened, and knows our own writes by then.
func TestToldLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, api, client, _ := served(t)
		before, after := api.Latest(), fmt.Sprint(api.Version()+1)
		r.kinds["Foo"].has = map[string]bool{}
		queue := r.Queue(fooKind, controller.NewQueue(""))
		defer queue.ShutDown()
		handler := r.handler(fooKind, enqueueFoos(queue))
		observed := r.Reconcile(fooKind, reconcileFunc(func(ctx context.Context, _ cache.ObjectName) (time.Duration, error) {
			_, err := client.SamplecontrollerV1alpha1().Foos("default").UpdateStatus(ctx, updated(before), metav1.UpdateOptions{})
			return 0, err
		}))
		late(r, func() {
			handler.OnAdd(foo(before), false)
			// The event overtakes the answer to the write that made it.
			handler.OnUpdate(foo(before), foo(after))
			key, _ := queue.Get()
			if _, err := observed.Reconcile(t.Context(), key); err != nil {
				t.Error(err)
			}
			handler.OnUpdate(foo(before), foo(after))
			queue.Forget(key)
			queue.Done(key)
		})
		want(t, r,
			"store added: wants d",
			"queue added:  ← Foo foo added",
			"store updated: wants d ← our own write",
			"queue coalesced: waits already ← our own write: Foo foo updated",
			"worker got: waited 0s ← Foo foo added; our own write: Foo foo updated",
			"reconcile started:  ← Foo foo added; our own write: Foo foo updated",
			"request sent: update the status of Foo foo",
			"request answered: OK",
			"reconcile ended: wrote the status (Ready False, NameTaken)",
			"store updated: wants d ← our own write",
			"queue coalesced: a worker has it: comes back when that is done ← our own write: Foo foo updated",
			"worker done: back into the queue",
		)
	})
}

// A subscriber hears of a step soon, though no call asks for it, and not at once: the
// answer to a write may have to come first. The step has the time at which it happened.
func TestToldSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(Options{All: true})
		for i := range 3 {
			began := time.Now()
			say(r, fmt.Sprint(i))
			time.Sleep(publishAfter / 2)
			say(r, "later")
			if steps := r.Read(t.Context(), int64(2*i)); len(steps) != 1 || steps[0].Text != fmt.Sprint(i) || !steps[0].Time.Equal(began) {
				t.Errorf("steps %+v, want number %d alone, of %s", steps, 2*i+1, began)
			}
			if r.Read(t.Context(), int64(2*i+1)); time.Since(began) > 3*publishAfter {
				t.Errorf("two steps are told after %s", time.Since(began))
			}
		}
	})
}

// What is sent is kept as it was: its buffer may be used again before the step is
// told.
func TestBodyIsCaptured(t *testing.T) {
	r := observing()
	server := r.Transport(roundTripper(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
	}))
	body := []byte(r.render(r.kinds["Foo"], open(foo("1")), objectLimit))
	wanted := string(body)
	late(r, func() {
		request, err := http.NewRequest(http.MethodPut, fooPath, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = server.RoundTrip(request)
		clear(body)
	})
	past := kept(r)
	if diff := cmp.Diff(wanted, past[0].Request.Body); diff != "" {
		t.Errorf("what was sent (-want +got):\n%s", diff)
	}
}

// maxPendingSteps is how many short steps can wait to be told.
const maxPendingSteps = maxPending / stepOverhead

// More than can be told is counted in its place, by number and by bytes, and what
// comes after is told again.
func TestTooMuch(t *testing.T) {
	for _, test := range []struct {
		reason string
		fill   func(r *Observer)
		fit    int
	}{
		{"many", func(r *Observer) {
			for range maxPendingSteps {
				say(r, "fits")
			}
		}, maxPendingSteps},
		{"large", func(r *Observer) {
			r.record(&trace.Step{Part: trace.PartProgram, Text: "fits"}, nil, maxPending-stepOverhead, nil)
		}, 1},
	} {
		r := New(Options{All: true})
		var out bytes.Buffer
		r.Print(Flag{}, &out)
		late(r, func() {
			test.fill(r)
			r.record(&trace.Step{Part: trace.PartProgram, Text: "is lost"}, nil, 1, nil)
			// It would fit, but the gap has one place.
			say(r, "is lost")
			say(r, "is lost")
		})
		say(r, "comes after")
		steps := kept(r)
		if held := r.bytes.Load(); held != 0 {
			t.Errorf("%s: %d bytes are held after all is told", test.reason, held)
		}
		if len(steps) != test.fit+1 {
			t.Fatalf("%s: %d steps are told, want %d and one after the gap", test.reason, len(steps), test.fit)
		}
		if after := steps[test.fit]; after.Text != "comes after" || after.Seq != int64(test.fit+4) {
			t.Errorf("%s: after the gap comes %+v", test.reason, after)
		}
		r.Close()
		if got := clock.ReplaceAllString(out.String(), ""); !strings.HasSuffix(got, "fits\n3 steps not shown\ncomes after\n") {
			t.Errorf("%s: the story ends with %q", test.reason, got[max(len(got)-60, 0):])
		}
	}
}

// A gap in the middle of a reconcile, in which the answer to a write is missing:
// nothing is claimed of what is not known, and nothing is waited for.
func TestGapInAReconcile(t *testing.T) {
	r := observing()
	r.kinds["Foo"].has["queue"] = true
	server := r.Transport(roundTripper(func(request *http.Request) (*http.Response, error) {
		if request.Method == http.MethodPut {
			// The request is told. What comes after is too much, until the test tells.
			r.publish(0)
			for range maxPendingSteps {
				say(r, "more than fits")
			}
		}
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
	}))
	observed := r.Reconcile(fooKind, reconcileFunc(func(ctx context.Context, _ cache.ObjectName) (time.Duration, error) {
		for _, method := range []string{http.MethodGet, http.MethodPut} {
			_, _ = server.RoundTrip(httptest.NewRequestWithContext(ctx, method, fooPath, nil))
		}
		r.publish(0)
		return 0, nil
	}))
	late(r, func() { _, _ = observed.Reconcile(t.Context(), fooKey) })
	all := told(r)
	if got, want := all[len(all)-1], "reconcile ended: asked the server for Foo foo"; got != want {
		t.Errorf("the last step is %q, want %q", got, want)
	}
}
