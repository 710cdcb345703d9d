package events

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/internal/tests"
)

// counted is a sink that counts its calls, waits in answer, and returns err.
type counted struct {
	events.EventSink
	calls  atomic.Int32
	err    error
	answer func(ctx context.Context)
}

func (c *counted) Create(ctx context.Context, event *eventsv1.Event) (*eventsv1.Event, error) {
	c.calls.Add(1)
	c.answer(ctx)
	return event, c.err
}

// The sink drops Events above the limit at once, and does not retry a failed request.
func TestSinkDrops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := &counted{err: errors.New("connection refused"), answer: func(context.Context) {}}
		s, begin := newSink(next), time.Now()
		for range 1000 {
			if event, err := s.Create(t.Context(), &eventsv1.Event{}); event != nil || err != nil {
				t.Fatalf("%v, %v, want nothing", event, err)
			}
		}
		if took := time.Since(begin); int(next.calls.Load()) != burst || took != 0 {
			t.Errorf("%d sent in %s, want %d at once", next.calls.Load(), took, burst)
		}
		// Warnings have a separate limit.
		_, _ = s.Create(t.Context(), &eventsv1.Event{Type: corev1.EventTypeWarning})
		if int(next.calls.Swap(burst)) != burst+1 {
			t.Error("a Warning is dropped because of others")
		}
		time.Sleep(time.Second)
		for range 1000 {
			_, _ = s.Create(t.Context(), &eventsv1.Event{})
		}
		if int(next.calls.Load()) != burst+qps {
			t.Errorf("%d sent after a second, want %d more", next.calls.Load()-burst, qps)
		}
	})
}

// A request without a response is canceled after the timeout. It delays no other Event, neither a simultaneous
// one, as when a quota rejects many Foos, nor a later one.
func TestSinkOfServerThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := &counted{answer: func(ctx context.Context) { <-ctx.Done() }}
		s, begin := newSink(next), time.Now()
		for range burst {
			go func() { _, _ = s.Create(t.Context(), &eventsv1.Event{}) }()
		}
		time.Sleep(time.Second)
		_, _ = s.Create(t.Context(), &eventsv1.Event{})
		if took := time.Since(begin); next.calls.Load() != burst+1 || took != time.Second+timeout {
			t.Errorf("%d requests in %s, want all %d, each for %s", next.calls.Load(), took, burst+1, timeout)
		}
	})
}

// An Event is about the Foo, and names the Deployment as related.
func TestRelated(t *testing.T) {
	api := tests.NewAPIServer()
	recorder, stop, err := Start(api.Config(), "test", v1alpha1.AddToScheme)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	meta := metav1.ObjectMeta{Namespace: "default", Name: "one"}
	recorder.Eventf(&v1alpha1.Foo{ObjectMeta: meta}, &appsv1.Deployment{ObjectMeta: meta}, corev1.EventTypeNormal, "Created", "Create", "Created %s", "one")
	for deadline := time.Now().Add(10 * time.Second); len(api.List("events")) == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("no Event after 10 s")
		}
	}
	event := api.List("events")[0].Object
	if got := event["related"].(map[string]any)["kind"]; got != "Deployment" {
		t.Errorf("related is %v, want the Deployment", event["related"])
	}
	if got := event["regarding"].(map[string]any)["kind"]; got != "Foo" {
		t.Errorf("regarding is %v, want the Foo", event["regarding"])
	}
}

// The recorder drops Events above the limit before they reach the broadcaster, which would keep them.
func TestRecorderDrops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := events.NewFakeRecorder(2 * burst)
		r := recorder{next, newLimits()}
		for range 1000 {
			r.Eventf(&v1alpha1.Foo{}, nil, corev1.EventTypeNormal, "Created", "Create", "")
		}
		if len(next.Events) != burst {
			t.Errorf("%d of 1000 recorded, want %d", len(next.Events), burst)
		}
	})
}
