package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/perf/benchfmt"

	"example.com/byhand/compare/peers"
)

// run is one peer on a control plane of its own.
type run struct {
	*server
	*progress
	bench   *bench
	peer    peers.Peer
	started *process
}

// with calls do with a peer and a fresh control plane on which n Foos wait, and
// takes both away when do returns.
func (b *bench) with(ctx context.Context, peer peers.Peer, n int, do func(ctx context.Context, r *run) error) (err error) {
	server, err := b.up(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Down()) }()
	if err := server.createFoos(ctx, n); err != nil {
		return err
	}
	progress, err := server.follow(ctx)
	if err != nil {
		return err
	}
	defer progress.end()
	r := &run{server: server, progress: progress, bench: b, peer: peer}
	defer func() {
		if r.started != nil {
			r.started.stop()
			err = r.started.Explain(err)
		}
	}()
	return do(ctx, r)
}

// start starts the peer.
func (r *run) start(ctx context.Context) (p *process, err error) {
	r.started, err = start(r.peer.Command(ctx, r.bench.dir, r.Kubeconfig))
	return r.started, err
}

// limit bounds the time in which n Foos must be done. It is generous: a time is
// reported, never judged.
func (r *run) limit(ctx context.Context, n int) (context.Context, context.CancelFunc) {
	each := 100 * time.Millisecond
	if slow(r.peer) {
		each = 2 * time.Second
	}
	cause := fmt.Errorf("%s is too slow, or has stopped", r.peer.Name)
	return context.WithTimeoutCause(ctx, time.Minute+time.Duration(n)*each, cause)
}

// slow says that the peer's own limit of requests makes it a hundred times slower
// than the others.
func slow(peer peers.Peer) bool { return peer.Name == "sample-controller" }

// report writes down what was measured of n Foos, averaged over so many operations, and says
// it.
func (b *bench) report(what string, n int, peer peers.Peer, operations int, values ...benchfmt.Value) error {
	text := fmt.Sprintf("%s/foos=%d/peer=%s", what, n, peer.Name)
	name := text
	for _, v := range values {
		text += fmt.Sprintf("  %.4g %s", v.Value, v.Unit)
	}
	b.say("%s", text)
	return b.raw.add(name, operations, values...)
}
