package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"example.com/byhand/compare/peers"
)

// sideBySide runs what is waited for and not worked for: peers that idle, and Leases
// that expire. No time is measured that a busy CPU would change much, so all run at
// once, each on a control plane of its own; and all are made ready before the
// first one begins.
func (b *bench) sideBySide(ctx context.Context) error {
	// More workers, and no compression, change nothing for byhand here.
	idling := b.peersWhere(func(p peers.Peer) bool { return !p.Loop && p.Name != "byhand-tuned" && b.plan.idleFoos > 0 })
	// As shipped, controller-runtime's Lease has to expire. That takes as long as if
	// its holder were killed, and is left out where that is.
	failing := b.peersWhere(func(p peers.Peer) bool {
		return p.Elects && p.Name != "byhand-tuned" && !(p.Name == "controller-runtime" && b.plan.killedFailovers == 0)
	})
	var ready, running sync.WaitGroup
	ready.Add(len(idling) + len(failing))
	begin := func(peer peers.Peer, n int, do func(ctx context.Context, r *run, wait func()) error) {
		running.Go(func() {
			isReady := sync.OnceFunc(ready.Done)
			defer isReady()
			if err := b.with(ctx, peer, n, func(ctx context.Context, r *run) error {
				return do(ctx, r, func() {
					isReady()
					ready.Wait()
				})
			}); err != nil {
				b.problem(fmt.Errorf("%s: %w", peer.Name, err))
			}
		})
	}
	for _, peer := range idling {
		n := b.plan.idleFoos
		if slow(peer) {
			n = b.plan.slowFoos
		}
		begin(peer, n, func(ctx context.Context, r *run, wait func()) error { return r.waitIdle(ctx, n, wait) })
	}
	for _, peer := range failing {
		begin(peer, 1, func(ctx context.Context, r *run, wait func()) error { return r.failover(ctx, wait) })
	}
	running.Wait()
	return nil
}

// waitIdle brings the peer to where it has nothing to do, waits for the others, and
// counts what it does then.
func (r *run) waitIdle(ctx context.Context, n int, wait func()) error {
	p, _, err := r.converge(ctx, n, peers.Options{Resync: r.bench.plan.resync})
	if err != nil {
		return err
	}
	if _, _, err := r.settled(ctx); err != nil {
		return err
	}
	wait()
	return r.idle(ctx, p, n)
}

// idle counts the requests of a peer that has nothing to do, over two resyncs. (Each
// peer resyncs as the plan says; sample-controller has the plan's 30 s compiled in.)
func (r *run) idle(ctx context.Context, p *process, n int) error {
	before, err := r.counts(ctx)
	if err != nil {
		return err
	}
	cpuBefore, err := p.cpu()
	if err != nil {
		return err
	}
	if err := p.pause(ctx, time.After(r.bench.plan.idle)); err != nil {
		return err
	}
	cpu, err := p.cpu()
	if err != nil {
		return err
	}
	after, err := r.counts(ctx)
	if err != nil {
		return err
	}
	sent := after.Minus(before)
	r.bench.judge(r.peer, fmt.Sprintf("idle for %s", r.bench.plan.idle), sent, nil)
	err = r.report("Idle", n,
		value(r.bench.plan.idle.Seconds(), "sec/op"),
		value(float64(sent.Writes().Sum()), writes),
		value(float64(sent.Conflicts().Sum()), conflicts),
		value(float64(sent.Reads().Sum()), reads),
		value(float64(sent.Events().Sum()), events),
		value((cpu-cpuBefore).Seconds(), cpuSeconds))
	return errors.Join(err, r.verify(ctx, n))
}
