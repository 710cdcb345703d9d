// Package events sends the Events that a controller records: notes for people, which kubectl
// describe shows.
//
// A recorder makes an Event and hands it to a broadcaster. The broadcaster starts a goroutine for
// each, and hands it to a sink, which sends it. Events that differ in their note alone are a
// series: one object that counts. So the object that is meant is the Event's related one. Here two
// are seldom a series, since the Foo or the Deployment has another resourceVersion. If they are,
// the second is a PATCH, for which config/rbac has no right: it is dropped, and the condition tells
// it. The broadcaster remembers each Event for six minutes. How many there are is bounded by the program:
// one for each cause that is new, and one for each write that succeeds.
package events

import (
	"context"
	"errors"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	typedeventsv1 "k8s.io/client-go/kubernetes/typed/events/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/klog/v2"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

// At most qps Warnings a second are sent, after a burst, and as many other Events: one object that
// changes all the time does not hide what is wrong with others. With the timeout this limits how many
// wait for an answer, too, so that those of one namespace need not wait for those of another.
const (
	qps, burst = 10, 50
	timeout    = 10 * time.Second
)

// scheme has the kinds that Events are about.
var scheme = runtime.NewScheme()

func init() {
	utilruntime.Must(v1alpha1.AddToScheme(scheme))
	utilruntime.Must(appsv1.AddToScheme(scheme))
}

// Start returns a recorder of Events about Foos and Deployments. component names who records
// them. Events have a client of their own, so that they never delay a write. What is too much is
// dropped. stop hands over what was recorded; the last Events may be lost.
func Start(config *rest.Config, component string) (_ events.EventRecorder, stop func(), err error) {
	config = rest.CopyConfig(config)
	config.QPS, config.RateLimiter = -1, nil // The sink has the limit: its client would queue.
	client, err := typedeventsv1.NewForConfig(config)
	if err != nil {
		return nil, nil, err
	}
	broadcaster := events.NewBroadcaster(newSink(&events.EventSinkImpl{Interface: client}))
	// Not a caller's context: workers that finish after a signal still record Events.
	ctx, cancel := context.WithCancel(context.Background())
	if err := broadcaster.StartRecordingToSinkWithContext(ctx); err != nil {
		cancel()
		return nil, nil, err
	}
	return recorder{broadcaster.NewRecorder(scheme, component), newLimits()}, func() {
		broadcaster.Shutdown()
		cancel()
	}, nil
}

// limits say how many Events are too much: Warnings, and others.
type limits map[bool]flowcontrol.RateLimiter

func newLimits() limits {
	return limits{true: flowcontrol.NewTokenBucketRateLimiter(qps, burst), false: flowcontrol.NewTokenBucketRateLimiter(qps, burst)}
}

// accept reports whether one more of this type is not too much.
func (l limits) accept(kind string) bool { return l[kind == corev1.EventTypeWarning].TryAccept() }

// recorder drops at once what is too much: the broadcaster would keep each for six minutes.
type recorder struct {
	events.EventRecorder
	limits
}

// Eventf implements events.EventRecorder.
func (r recorder) Eventf(regarding, related runtime.Object, kind, reason, action, note string, args ...any) {
	if r.accept(kind) {
		r.EventRecorder.Eventf(regarding, related, kind, reason, action, note, args...)
	}
}

// sink drops at once what is too much, and what fails: the broadcaster would hold a goroutine for
// each of them, for two minutes. What was dropped is not told again: the condition has it.
type sink struct {
	next events.EventSink
	limits
}

func newSink(next events.EventSink) *sink { return &sink{next, newLimits()} }

// Create implements events.EventSink.
func (s *sink) Create(ctx context.Context, event *eventsv1.Event) (*eventsv1.Event, error) {
	return s.send(ctx, event.Type, func(ctx context.Context) (*eventsv1.Event, error) { return s.next.Create(ctx, event) })
}

// Update implements events.EventSink.
func (s *sink) Update(ctx context.Context, event *eventsv1.Event) (*eventsv1.Event, error) {
	return s.send(ctx, event.Type, func(ctx context.Context) (*eventsv1.Event, error) { return s.next.Update(ctx, event) })
}

// Patch implements events.EventSink.
func (s *sink) Patch(ctx context.Context, event *eventsv1.Event, data []byte) (*eventsv1.Event, error) {
	return s.send(ctx, event.Type, func(ctx context.Context) (*eventsv1.Event, error) { return s.next.Patch(ctx, event, data) })
}

// send returns nil for what was dropped: the broadcaster tries an error again, unless it is the
// API server's.
func (s *sink) send(ctx context.Context, kind string, send func(ctx context.Context) (*eventsv1.Event, error)) (*eventsv1.Event, error) {
	if !s.accept(kind) {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	event, err := send(ctx)
	if _, answered := errors.AsType[*apierrors.StatusError](err); err != nil && !answered {
		klog.FromContext(ctx).V(2).Info("An Event is dropped", "reason", err)
		return nil, nil
	}
	return event, err
}
