package main

import (
	"context"
	"time"

	"github.com/aclements/go-moremath/stats"
	"golang.org/x/perf/benchfmt"

	"example.com/byhand/compare/peers"
)

// backlog starts the peer on n Foos that have nothing yet. From when a tenth of them is done
// until nine tenths are, every 50 ms a new Foo is created, and after the last one a hundred more,
// each alone: how long do they wait for their Deployments?
func (b *bench) backlog(ctx context.Context, peer peers.Peer, n int) (values []benchfmt.Value, err error) {
	err = b.with(ctx, peer, n, func(ctx context.Context, r *run) error {
		limited, cancel := r.limit(ctx, n)
		defer cancel()
		names := fooNames(n)
		p, err := r.start(ctx)
		if err != nil {
			return err
		}
		behind, err := r.behind(limited, p, names)
		if err != nil {
			return err
		}
		_, err = r.await(limited, p.Done(), names, r.made, r.status)
		if err == nil {
			_, err = r.await(limited, p.Done(), behind, r.made)
		}
		var alone []string
		for i := 0; i < 100 && err == nil; i++ {
			alone = append(alone, fooName(n+len(behind)+i))
			if err = r.create(limited, alone[i]); err == nil {
				_, err = r.await(limited, p.Done(), alone[i:], r.made)
			}
		}
		if err != nil {
			return err
		}
		values = []benchfmt.Value{value(r.waits(alone).Quantile(0.5), aloneP50), value(r.waits(alone).Quantile(0.99), aloneP99)}
		// A small backlog may be gone before anything could be seen behind it.
		if len(behind) > 0 {
			values = append(values, value(r.waits(behind).Quantile(0.5), p50), value(r.waits(behind).Quantile(0.99), p99))
		}
		return nil
	})
	return values, err
}

// create creates a Foo. It waits for its Deployment from when the request is
// sent: when the answer arrives, the Deployment may be there.
func (r *run) create(ctx context.Context, name string) error {
	r.began[name] = time.Now()
	_, err := r.createFoo(ctx, name)
	return err
}

// waits are how long the Foos have waited, in seconds.
func (r *run) waits(names []string) (all stats.Sample) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range names {
		all.Xs = append(all.Xs, r.made[name].Sub(r.began[name]).Seconds())
	}
	return all
}

// behind creates Foos while the statuses of others are being written, 300 at most.
func (r *run) behind(ctx context.Context, p *process, names []string) (created []string, err error) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for n := len(names); len(created) < 300; {
		missing, _ := r.missing(names, r.status)
		if missing <= n/10 {
			break
		}
		if missing <= n-n/10 {
			created = append(created, fooName(n+len(created)))
			if err := r.create(ctx, created[len(created)-1]); err != nil {
				return nil, err
			}
		}
		if err := p.pause(ctx, tick.C); err != nil {
			return nil, err
		}
	}
	return created, nil
}
