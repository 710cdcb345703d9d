package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/internal/testkit/subprocess"
)

// progress follows the Foos and Deployments of a server, whichever program writes them. Its
// informers watch metadata alone, as protobuf, because the harness competes for the same
// CPUs: a new resourceVersion at the same generation says that a status
// was written, a new UID that the object was made again.
type progress struct {
	mu    sync.Mutex
	marks map[*mark]bool
	end   func()
}

// follow returns when both resources are listed. The caller calls end.
func (s *server) follow(ctx context.Context) (*progress, error) {
	client, err := metadata.NewForConfig(s.Config)
	if err != nil {
		return nil, err
	}
	informers := metadatainformer.NewFilteredSharedInformerFactory(client, 0, namespace, nil)
	following, stop := context.WithCancel(ctx)
	p := &progress{marks: map[*mark]bool{}, end: func() { stop(); informers.Shutdown() }}
	var synced []cache.InformerSynced
	for _, resource := range []schema.GroupVersionResource{foos, deployments} {
		handler, err := informers.ForResource(resource).Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(now any) { p.event(resource, &metav1.PartialObjectMetadata{}, now, time.Now()) },
			UpdateFunc: func(before, now any) { p.event(resource, before, now, time.Now()) },
		})
		if err != nil {
			stop()
			return nil, err
		}
		synced = append(synced, handler.HasSynced)
	}
	informers.Start(following.Done())
	if !cache.WaitForCacheSync(following.Done(), synced...) {
		p.end()
		return nil, fmt.Errorf("list the Foos and Deployments: %w", context.Cause(ctx))
	}
	return p, nil
}

func (p *progress) event(resource schema.GroupVersionResource, before, now any, at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	was, is := before.(metav1.Object), now.(metav1.Object)
	for m := range p.marks {
		if m.resource == resource && m.waiting[is.GetName()] && m.met(was, is) {
			m.reached(is.GetName(), at)
		}
	}
}

// What can happen to an object. Before it was made, it has no UID.
type happening func(before, now metav1.Object) bool

// made: it was not there, or it was another one.
func made(before, now metav1.Object) bool { return before.GetUID() != now.GetUID() }

// statusWritten: something else than its spec has changed.
func statusWritten(before, now metav1.Object) bool {
	return before.GetUID() == now.GetUID() && before.GetGeneration() == now.GetGeneration() && before.GetResourceVersion() != now.GetResourceVersion()
}

// A mark waits for something to happen to each of some objects.
type mark struct {
	mu       *sync.Mutex // that of its progress
	resource schema.GroupVersionResource
	met      happening
	waiting  map[string]bool
	begin    time.Time
	last     time.Time
	done     chan struct{}
}

// expect returns a mark for the objects with these names. What happened before the
// call does not count.
func (p *progress) expect(resource schema.GroupVersionResource, met happening, names ...string) *mark {
	m := &mark{mu: &p.mu, resource: resource, met: met, waiting: map[string]bool{}, begin: time.Now(), done: make(chan struct{})}
	for _, name := range names {
		m.waiting[name] = true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.marks[m] = true
	return m
}

func (m *mark) reached(name string, at time.Time) {
	delete(m.waiting, name)
	m.last = at
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

// await waits until all marks are reached and returns the moment of the last one.
// It gives up when ctx ends, or some seconds after stopped is closed, with ErrEnded: what was
// written last may still be on its way.
func (p *progress) await(ctx context.Context, stopped <-chan struct{}, marks ...*mark) (last time.Time, err error) {
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	go func() {
		select {
		case <-stopped:
			time.AfterFunc(5*time.Second, func() { giveUp(subprocess.ErrEnded) })
		case <-ctx.Done():
		}
	}()
	for _, m := range marks {
		select {
		case <-m.done:
		case <-ctx.Done():
			return last, fmt.Errorf("%d of the %s are missing: %w", m.missing(), m.resource.Resource, context.Cause(ctx))
		}
		if m.last.After(last) {
			last = m.last
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range marks {
		delete(p.marks, m)
	}
	return last, nil
}
