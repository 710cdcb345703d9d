package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"example.com/byhand/compare/peers"
)

// run is one peer on a control plane of its own.
type run struct {
	*server
	*progress
	bench   *bench
	peer    peers.Peer
	started *process
	began   times // by the names of the Foos that were created meanwhile
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
	r := &run{server: server, progress: progress, bench: b, peer: peer, began: times{}}
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
	cause := fmt.Errorf("%s is too slow, or has stopped", r.peer.Name)
	return context.WithTimeoutCause(ctx, time.Minute+time.Duration(n)*100*time.Millisecond, cause)
}
