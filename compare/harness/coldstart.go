package main

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/byhand/compare/peers"
	"example.com/byhand/internal/requests"
)

// birth is a cold start of n Foos and nothing else.
func (b *bench) birth(ctx context.Context, peer peers.Peer, n int) error {
	return b.with(ctx, peer, n, func(ctx context.Context, r *run) error {
		_, err := r.coldStart(ctx, n)
		return err
	})
}

// life is a cold start of n Foos, and all that may happen to them later.
func (b *bench) life(ctx context.Context, peer peers.Peer, n int) error {
	return b.with(ctx, peer, n, func(ctx context.Context, r *run) error {
		p, err := r.coldStart(ctx, n)
		if err != nil || peer.Loop {
			return err
		}
		if err := r.changeAll(ctx, p, n); err != nil {
			return fmt.Errorf("change: %w", err)
		}
		if err := r.deleteAll(ctx, p, n); err != nil {
			return fmt.Errorf("delete: %w", err)
		}
		// A slow peer still has work to do.
		if slow(r.peer) {
			return nil
		}
		return r.oneByOne(ctx, p, n, b.plan.singles)
	})
}

// converge starts the peer and waits until each of the first n Foos has a Deployment and
// a status. It returns the moment of the last one.
func (r *run) converge(ctx context.Context, n int, options peers.Options) (*process, time.Time, error) {
	limited, cancel := r.limit(ctx, n)
	defer cancel()
	names := fooNames(n)
	created, statuses := r.expect(deployments, made, names...), r.expect(foos, statusWritten, names...)
	p, err := r.start(ctx, options)
	if err != nil {
		return nil, time.Time{}, err
	}
	end, err := r.await(limited, p.Done(), created, statuses)
	return p, end, err
}

// coldStart starts the peer on n Foos that have nothing yet and measures until the
// last one has a Deployment and a status, as a watch of the API server sees it.
// It goes on until nothing more is written, so that no write is missed.
func (r *run) coldStart(ctx context.Context, n int) (*process, error) {
	before, err := r.counts(ctx)
	if err != nil {
		return nil, err
	}
	p, end, err := r.converge(ctx, n, peers.Options{})
	if err != nil {
		return nil, err
	}
	if r.peer.Loop {
		// It ends now, and only then all of its time is known.
		if err := p.Wait(ctx); err != nil {
			return nil, err
		}
	}
	cpu, err := p.CPU()
	if err != nil {
		return nil, err
	}
	after, busy, err := r.settled(ctx)
	if err != nil {
		return nil, err
	}
	if busy.Before(end) {
		busy = end
	}

	sent := after.Minus(before)
	values := append(elapsed(p.Started, end, n, sent),
		value(float64(n)/busy.Sub(p.Started).Seconds(), restPerSecond), value(cpu.Seconds(), cpuSeconds), value(float64(p.peakRSS()), peakMemory))
	return p, r.report("ColdStart", n, values...)
}

// changeAll changes the replicas of n Foos whose Deployments exist, and measures from
// the first PATCH to the last Deployment with another spec. The harness patches
// with 16 goroutines while the peer works.
func (r *run) changeAll(ctx context.Context, p *process, n int) error {
	return r.disturb(ctx, p, "Change", n, specWritten,
		requests.Request{Verb: "PATCH", Resource: "foos", Code: "200"},
		func(ctx context.Context, name string) error { return r.scaleFoo(ctx, name, 2) })
}

// deleteAll deletes n Deployments and measures until all are back. Deleting and
// making anew overlap.
func (r *run) deleteAll(ctx context.Context, p *process, n int) error {
	background := metav1.DeletePropagationBackground
	return r.disturb(ctx, p, "Delete", n, made,
		requests.Request{Verb: "DELETE", Resource: "deployments", Code: "200"},
		func(ctx context.Context, name string) error {
			return r.Kube.AppsV1().Deployments(namespace).Delete(ctx, name, metav1.DeleteOptions{PropagationPolicy: &background})
		})
}

// disturb does something to each of n Foos or their Deployments and measures until
// each Deployment shows the answer. own is the request that it sends, and that is not the
// peer's.
func (r *run) disturb(ctx context.Context, p *process, what string, n int, answer happening, own requests.Request, do func(ctx context.Context, name string) error) error {
	limited, cancel := r.limit(ctx, n)
	defer cancel()
	before, err := r.counts(ctx)
	if err != nil {
		return err
	}
	names := fooNames(n)
	answered := r.expect(deployments, answer, names...)

	begin := time.Now()
	if err := parallel(limited, names, do); err != nil {
		return err
	}
	end, err := r.await(limited, p.Done(), answered)
	if err != nil {
		return err
	}
	after, _, err := r.settled(ctx)
	if err != nil {
		return err
	}

	sent := after.Minus(before).Minus(requests.Counts{own: n})
	return r.report(what, n, elapsed(begin, end, n, sent)...)
}
