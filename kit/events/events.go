// Package events sends the Events that a controller records: notes for people, which kubectl
// describe shows.
//
// A recorder creates an Event and passes it to a broadcaster. The broadcaster starts a goroutine for
// each, and hands it to a sink, which sends it. Events about the same objects (in the same versions) with the
// same reason and action are a series: the first is a POST, and the later ones are a PATCH that counts. If the
// program has no permission to patch Events, they are dropped. To avoid a series, pass the object that was written
// as related, or different actions. The broadcaster remembers each Event for six minutes. The program bounds their
// number: record one for each new reason, and one for each successful write.
package events

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	typedeventsv1 "k8s.io/client-go/kubernetes/typed/events/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/klog/v2"
)

// The recorder accepts qps Warnings a second, after a burst, and as many other Events. So one object that
// changes constantly does not hide the Warnings about others. With the timeout this also bounds the Events in
// flight: Events of one namespace do not wait for another namespace.
const (
	qps, burst = 10, 50
	timeout    = 10 * time.Second
)

// Start returns a recorder of Events about objects of Kubernetes' own kinds, and of the kinds that each of
// addToScheme registers. component names the program that records them. Events have their own client, so they
// never delay a write. Events above the limits are dropped. stop sends recorded Events; the last ones may be lost.
func Start(config *rest.Config, component string, addToScheme ...func(*runtime.Scheme) error) (_ events.EventRecorder, stop func(), err error) {
	known := runtime.NewScheme()
	builder := append(runtime.SchemeBuilder{scheme.AddToScheme}, addToScheme...)
	if err := builder.AddToScheme(known); err != nil {
		return nil, nil, err
	}
	config = rest.CopyConfig(config)
	config.QPS, config.RateLimiter = -1, nil // The recorder has the limit: the client would queue.
	client, err := typedeventsv1.NewForConfig(config)
	if err != nil {
		return nil, nil, err
	}
	broadcaster := events.NewBroadcaster(sink{&events.EventSinkImpl{Interface: client}})
	// Not a caller's context: workers that finish after a signal still record Events.
	ctx, cancel := context.WithCancel(context.Background())
	if err := broadcaster.StartRecordingToSinkWithContext(ctx); err != nil {
		cancel()
		return nil, nil, err
	}
	return newRecorder(broadcaster.NewRecorder(known, component)), func() {
		broadcaster.Shutdown()
		cancel()
	}, nil
}

// recorder drops Events above the limit at once: the broadcaster would keep each for six minutes.
type recorder struct {
	events.EventRecorder
	warnings, others flowcontrol.RateLimiter
}

func newRecorder(next events.EventRecorder) recorder {
	return recorder{next, flowcontrol.NewTokenBucketRateLimiter(qps, burst), flowcontrol.NewTokenBucketRateLimiter(qps, burst)}
}

// Eventf implements events.EventRecorder.
func (r recorder) Eventf(regarding, related runtime.Object, kind, reason, action, note string, args ...any) {
	limiter := r.others
	if kind == corev1.EventTypeWarning {
		limiter = r.warnings
	}
	if limiter.TryAccept() {
		r.EventRecorder.Eventf(regarding, related, kind, reason, action, note, args...)
	}
}

// sink drops Events whose request got no response: the broadcaster would hold a goroutine for each, for two
// minutes. A dropped Event is not sent again; the condition has its message.
type sink struct{ next events.EventSink }

// Create implements events.EventSink.
func (s sink) Create(ctx context.Context, event *eventsv1.Event) (*eventsv1.Event, error) {
	return send(ctx, func(ctx context.Context) (*eventsv1.Event, error) { return s.next.Create(ctx, event) })
}

// Update implements events.EventSink.
func (s sink) Update(ctx context.Context, event *eventsv1.Event) (*eventsv1.Event, error) {
	return send(ctx, func(ctx context.Context) (*eventsv1.Event, error) { return s.next.Update(ctx, event) })
}

// Patch implements events.EventSink.
func (s sink) Patch(ctx context.Context, event *eventsv1.Event, data []byte) (*eventsv1.Event, error) {
	return send(ctx, func(ctx context.Context) (*eventsv1.Event, error) { return s.next.Patch(ctx, event, data) })
}

// send returns nil for a dropped Event: the broadcaster retries an error, unless the API server returned it.
func send(ctx context.Context, request func(ctx context.Context) (*eventsv1.Event, error)) (*eventsv1.Event, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	event, err := request(ctx)
	if _, answered := errors.AsType[*apierrors.StatusError](err); err != nil && !answered {
		klog.FromContext(ctx).V(2).Info("An Event is dropped", "reason", err)
		return nil, nil
	}
	return event, err
}
