package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

func newProgress() *progress {
	return &progress{known: map[schema.GroupVersionResource]map[string]seen{foos: {}, deployments: {}}, failed: make(chan struct{})}
}

// hear is an event at this second.
func (p *progress) hear(second int64, resource schema.GroupVersionResource, eventType watch.EventType, name, uid, version string, generation int64) {
	p.event(resource, eventType, &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Name: name, UID: types.UID(uid), ResourceVersion: version, Generation: generation}}, time.Unix(second, 0))
}

func TestHappenings(t *testing.T) {
	before := seen{"u", "5", 1}
	for _, test := range []struct {
		reason            string
		before, now       seen
		made, spec, staus bool
	}{
		{"new", seen{}, before, true, false, false},
		{"the status", before, seen{"u", "6", 1}, false, false, true},
		{"the spec", before, seen{"u", "6", 2}, false, true, false},
		{"made again", before, seen{"v", "6", 1}, true, false, false},
		{"deleted", before, seen{}, false, false, false},
		{"nothing", before, before, false, false, false},
	} {
		if got := [3]bool{made(test.before, test.now), specWritten(test.before, test.now), statusWritten(test.before, test.now)}; got != [3]bool{test.made, test.spec, test.staus} {
			t.Errorf("%s: made, spec written, status written = %v", test.reason, got)
		}
	}
}

// A mark is reached when it has happened to each of its objects, at the moment of the
// last one; what happens to others, or again, changes nothing.
func TestMark(t *testing.T) {
	p := newProgress()
	m := p.expect(deployments, made, "a", "b")
	p.hear(1, deployments, watch.Added, "a", "u", "1", 1)
	p.hear(2, deployments, watch.Added, "other", "u", "2", 1)
	p.hear(2, foos, watch.Added, "b", "u", "2", 1)
	p.hear(3, deployments, watch.Deleted, "a", "u", "3", 1)
	p.hear(4, deployments, watch.Added, "a", "v", "4", 1)
	if m.missing() != 1 {
		t.Fatalf("%d are missing, want 1", m.missing())
	}
	p.hear(5, deployments, watch.Added, "b", "u", "5", 1)

	at, err := p.await(t.Context(), nil, m)
	if err != nil || at.Unix() != 5 {
		t.Errorf("reached at %v, %v; want second 5", at, err)
	}
	if at, ok := m.when("a"); !ok || at.Unix() != 1 {
		t.Errorf("a at %v, %v; want second 1", at, ok)
	}
	if len(p.marks) != 0 {
		t.Error("a mark that was awaited is not forgotten")
	}
}

// A stream that ends is opened again where it ended.
func TestWatchGoesOn(t *testing.T) {
	p := newProgress()
	object := func(name, version string) *metav1.PartialObjectMetadata {
		return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name, UID: "u", ResourceVersion: version}}
	}
	first, second := watch.NewFakeWithChanSize(2, false), watch.NewFakeWithChanSize(2, false)
	first.Add(object("a", "7"))
	first.Stop()
	second.Add(object("b", "9"))
	second.Error(&metav1.Status{Reason: metav1.StatusReasonExpired, Message: "too old"})
	var from []string
	m := p.expect(foos, made, "a", "b")
	err := p.watch(t.Context(), foos, first, "5", func(version string) (watch.Interface, error) {
		from = append(from, version)
		return second, nil
	})
	if err == nil || !strings.Contains(err.Error(), "too old") {
		t.Errorf("an error on the stream: %v", err)
	}
	if m.missing() != 0 || len(from) != 1 || from[0] != "7" {
		t.Errorf("%d events are missing; opened again at %v, want version 7", m.missing(), from)
	}
}

func TestAwaitGivesUp(t *testing.T) {
	tooLate := errors.New("too late")
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(tooLate)
	p := newProgress()
	if _, err := p.await(ended, nil, p.expect(foos, made, "a")); !errors.Is(err, tooLate) {
		t.Errorf("the time is over: %v", err)
	}
	broken := errors.New("broken")
	p.fail(broken)
	if _, err := p.await(t.Context(), nil, p.expect(foos, made, "a")); !errors.Is(err, broken) {
		t.Errorf("a watch is broken: %v", err)
	}
}
