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

// The sink sends a failed request once: the broadcaster would retry an error.
func TestSinkDrops(t *testing.T) {
	next := &counted{err: errors.New("connection refused"), answer: func(context.Context) {}}
	if event, err := (sink{next}).Create(t.Context(), &eventsv1.Event{}); event != nil || err != nil || next.calls.Load() != 1 {
		t.Errorf("%v, %v after %d requests, want nothing after one", event, err, next.calls.Load())
	}
}

// A request without a response is canceled after the timeout. It delays no other Event, neither a simultaneous
// one, as when a quota rejects many Foos, nor a later one.
func TestSinkOfServerThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := &counted{answer: func(ctx context.Context) { <-ctx.Done() }}
		s, begin := sink{next}, time.Now()
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

// The recorder drops Events above the limit before they reach the broadcaster, which would keep them. Warnings
// have a separate limit.
func TestRecorderDrops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := events.NewFakeRecorder(3 * burst)
		r := newRecorder(next)
		record := func(kind string, want int) {
			t.Helper()
			for range 1000 {
				r.Eventf(&v1alpha1.Foo{}, nil, kind, "Created", "Create", "")
			}
			if len(next.Events) != want {
				t.Errorf("%s: %d recorded, want %d", kind, len(next.Events), want)
			}
		}
		record(corev1.EventTypeNormal, burst)
		record(corev1.EventTypeWarning, 2*burst)
		time.Sleep(time.Second)
		record(corev1.EventTypeNormal, 2*burst+qps)
	})
}
