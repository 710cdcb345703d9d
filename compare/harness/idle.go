package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"example.com/byhand/compare/peers"
)

// sideBySide runs what is waited for and not worked for, each peer on a control plane of its
// own: no time is measured that a busy CPU would change much.
func (b *bench) sideBySide(ctx context.Context, all []peers.Peer, n int, do func(ctx context.Context, r *run, n int) error) error {
	var running sync.WaitGroup
	for _, peer := range all {
		running.Go(func() {
			n := b.plan.foosOf(peer, n)
			if err := b.with(ctx, peer, n, func(ctx context.Context, r *run) error { return do(ctx, r, n) }); err != nil {
				b.problem(fmt.Errorf("%s: %w", peer.Name, err))
			}
		})
	}
	running.Wait()
	return nil
}

// idles says whether a peer that idles is measured. More workers, and no compression,
// change nothing for byhand.
func idles(p peers.Peer) bool { return !p.Loop && p.Name != "byhand-tuned" }

// idle brings the peer to where it has nothing to do, and counts what it does over two
// resyncs. (Each peer resyncs as the plan says; sample-controller has the plan's 30 s
// compiled in.)
func idle(ctx context.Context, r *run, n int) error {
	p, _, err := r.converge(ctx, n, peers.Options{Resync: r.bench.plan.resync})
	if err != nil {
		return err
	}
	before, _, err := r.settled(ctx)
	if err != nil {
		return err
	}
	cpuBefore, err := p.CPU()
	if err != nil {
		return err
	}
	if err := p.pause(ctx, time.After(r.bench.plan.idle)); err != nil {
		return err
	}
	cpu, err := p.CPU()
	if err != nil {
		return err
	}
	after, err := r.counts(ctx)
	if err != nil {
		return err
	}
	sent := after.Minus(before)
	return r.report("Idle", n,
		value(r.bench.plan.idle.Seconds(), "sec/op"),
		value(float64(sent.Writes().Sum()), writes),
		value(float64(sent.Conflicts().Sum()), conflicts),
		value(float64(sent.Reads().Sum()), reads),
		value(float64(sent.Events().Sum()), events),
		value((cpu-cpuBefore).Seconds(), cpuSeconds))
}
