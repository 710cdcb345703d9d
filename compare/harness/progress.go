package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"
)

// progress follows the Foos and Deployments of a server, whoever writes them. It
// watches their metadata alone, as protobuf, because whoever measures competes for
// the same CPUs: a new resourceVersion at the same generation says that a status
// was written, a new generation that a spec was, a new UID that the object was made
// again.
type progress struct {
	mu    sync.Mutex
	known map[schema.GroupVersionResource]map[string]seen
	marks []*mark
	err   error
	// failed is closed when a watch is broken; then err says why.
	failed  chan struct{}
	stop    context.CancelFunc
	running sync.WaitGroup
}

// seen is what the last event said about an object. It is zero before the first
// one, and after a deletion.
type seen struct {
	uid        types.UID
	version    string
	generation int64
}

// follow returns when both resources are listed and watched. The caller calls end.
func (s *server) follow(ctx context.Context) (*progress, error) {
	ctx, stop := context.WithCancel(ctx)
	p := &progress{known: map[schema.GroupVersionResource]map[string]seen{}, failed: make(chan struct{}), stop: stop}
	client, err := metadata.NewForConfig(s.config)
	if err != nil {
		stop()
		return nil, err
	}
	for _, resource := range []schema.GroupVersionResource{foos, deployments} {
		list, err := client.Resource(resource).Namespace(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			p.end()
			return nil, fmt.Errorf("list %s: %w", resource.Resource, err)
		}
		known := map[string]seen{}
		for _, item := range list.Items {
			known[item.Name] = seen{item.UID, item.ResourceVersion, item.Generation}
		}
		p.known[resource] = known
		open := func(version string) (watch.Interface, error) {
			return client.Resource(resource).Namespace(namespace).Watch(ctx, metav1.ListOptions{ResourceVersion: version})
		}
		stream, err := open(list.ResourceVersion)
		if err != nil {
			p.end()
			return nil, fmt.Errorf("watch %s: %w", resource.Resource, err)
		}
		p.running.Go(func() {
			if err := p.watch(ctx, resource, stream, list.ResourceVersion, open); err != nil {
				p.fail(fmt.Errorf("watch %s: %w", resource.Resource, err))
			}
		})
	}
	return p, nil
}

func (p *progress) end() {
	p.stop()
	p.running.Wait()
}

// watch follows a stream until ctx ends. The API server ends the stream of who does not
// keep up; it is opened again where it ended, so that no event is missed.
func (p *progress) watch(ctx context.Context, resource schema.GroupVersionResource, stream watch.Interface, version string, open func(version string) (watch.Interface, error)) error {
	for {
		for event := range stream.ResultChan() {
			object, ok := event.Object.(*metav1.PartialObjectMetadata)
			if !ok {
				stream.Stop()
				return fmt.Errorf("received %s %v", event.Type, event.Object)
			}
			version = object.ResourceVersion
			p.event(resource, event.Type, object, time.Now())
		}
		stream.Stop()
		if ctx.Err() != nil {
			return nil
		}
		var err error
		if stream, err = open(version); err != nil && ctx.Err() == nil {
			return err
		} else if err != nil {
			return nil
		}
	}
}

func (p *progress) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = err
		close(p.failed)
	}
}

func (p *progress) event(resource schema.GroupVersionResource, eventType watch.EventType, object *metav1.PartialObjectMetadata, at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before, now := p.known[resource][object.Name], seen{object.UID, object.ResourceVersion, object.Generation}
	if eventType == watch.Deleted {
		now = seen{}
	}
	p.known[resource][object.Name] = now
	for _, m := range p.marks {
		if m.resource == resource && m.waiting[object.Name] && m.met(before, now) {
			m.reached(object.Name, at)
		}
	}
}

// What can happen to an object.
type happening func(before, now seen) bool

// made: it was not there, or it was another one.
func made(before, now seen) bool { return now.uid != "" && before.uid != now.uid }

// specWritten: its spec is another one.
func specWritten(before, now seen) bool {
	return now.uid != "" && before.uid == now.uid && before.generation != now.generation
}

// statusWritten: something else than its spec has changed.
func statusWritten(before, now seen) bool {
	return now.uid != "" && before.uid == now.uid && before.generation == now.generation && before.version != now.version
}

// A mark waits for something to happen to each of some objects.
type mark struct {
	mu       *sync.Mutex // that of its progress
	resource schema.GroupVersionResource
	met      happening
	waiting  map[string]bool
	at       map[string]time.Time
	last     time.Time
	done     chan struct{}
}

// expect returns a mark for the objects with these names. What happened before the
// call does not count.
func (p *progress) expect(resource schema.GroupVersionResource, met happening, names ...string) *mark {
	m := &mark{mu: &p.mu, resource: resource, met: met, waiting: map[string]bool{}, at: map[string]time.Time{}, done: make(chan struct{})}
	for _, name := range names {
		m.waiting[name] = true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.marks = append(p.marks, m)
	return m
}

func (m *mark) reached(name string, at time.Time) {
	delete(m.waiting, name)
	m.at[name], m.last = at, at
	if len(m.waiting) == 0 {
		close(m.done)
	}
}

// missing returns how many objects the mark still waits for.
func (m *mark) missing() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.waiting)
}

// when returns the moment at which it happened to an object.
func (m *mark) when(name string) (at time.Time, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at, ok = m.at[name]
	return at, ok
}

// forget ends the marks.
func (p *progress) forget(marks ...*mark) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.marks = slices.DeleteFunc(p.marks, func(m *mark) bool { return slices.Contains(marks, m) })
}

// errStopped is what await returns when nobody works any more.
var errStopped = errors.New("the program ended before its work was done")

// await waits until all marks are reached and returns the moment of the last one.
// It gives up when ctx ends, when stopped is closed, or when a watch is broken.
func (p *progress) await(ctx context.Context, stopped <-chan struct{}, marks ...*mark) (time.Time, error) {
	defer p.forget(marks...)
	var last time.Time
	for _, m := range marks {
		select {
		case <-m.done:
		case <-p.failed:
			return last, p.err
		case <-ctx.Done():
			return last, fmt.Errorf("%d of the %s are missing: %w", m.missing(), m.resource.Resource, context.Cause(ctx))
		case <-stopped:
			// What it wrote last may still be on its way.
			select {
			case <-m.done:
			case <-time.After(5 * time.Second):
				return last, fmt.Errorf("%d of the %s are missing: %w", m.missing(), m.resource.Resource, errStopped)
			case <-ctx.Done():
				return last, context.Cause(ctx)
			}
		}
		if m.last.After(last) {
			last = m.last
		}
	}
	return last, nil
}
