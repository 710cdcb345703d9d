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
// was written. A Foo and its Deployment have one name.
type progress struct {
	mu           sync.Mutex
	made, status times
	end          func()
}

// times are when something has first happened to the objects of these names.
type times map[string]time.Time

// follow returns when both resources are listed. The caller calls end.
func (s *server) follow(ctx context.Context) (*progress, error) {
	client, err := metadata.NewForConfig(s.Config)
	if err != nil {
		return nil, err
	}
	informers := metadatainformer.NewFilteredSharedInformerFactory(client, 0, namespace, nil)
	following, stop := context.WithCancel(ctx)
	p := &progress{made: times{}, status: times{}, end: func() { stop(); informers.Shutdown() }}
	var synced []cache.InformerSynced
	for resource, handler := range map[schema.GroupVersionResource]cache.ResourceEventHandlerFuncs{
		deployments: {AddFunc: func(now any) { p.note(p.made, now) }},
		foos: {UpdateFunc: func(before, now any) {
			if isStatusWritten(before.(metav1.Object), now.(metav1.Object)) {
				p.note(p.status, now)
			}
		}},
	} {
		handler, err := informers.ForResource(resource).Informer().AddEventHandler(handler)
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

// isStatusWritten says that something else than its spec has changed.
func isStatusWritten(before, now metav1.Object) bool {
	return before.GetGeneration() == now.GetGeneration() && before.GetResourceVersion() != now.GetResourceVersion()
}

func (p *progress) note(happened times, object any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if name := object.(metav1.Object).GetName(); happened[name].IsZero() {
		happened[name] = time.Now()
	}
}

// missing returns for how many of these names something has not happened, and when it last did.
func (p *progress) missing(names []string, happened ...times) (missing int, last time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range happened {
		for _, name := range names {
			if at, ok := one[name]; !ok {
				missing++
			} else if at.After(last) {
				last = at
			}
		}
	}
	return missing, last
}

// await waits until all of this has happened to each of these names, and returns the moment of the
// last one. It gives up when ctx ends, or some seconds after stopped is closed, with ErrEnded: what
// was written last may still be on its way.
func (p *progress) await(ctx context.Context, stopped <-chan struct{}, names []string, happened ...times) (time.Time, error) {
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	go func() {
		select {
		case <-stopped:
			time.AfterFunc(5*time.Second, func() { giveUp(subprocess.ErrEnded) })
		case <-ctx.Done():
		}
	}()
	for {
		missing, last := p.missing(names, happened...)
		if missing == 0 {
			return last, nil
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return last, fmt.Errorf("%d Deployments and statuses are missing: %w", missing, context.Cause(ctx))
		}
	}
}
