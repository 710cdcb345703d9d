package main

import (
	"context"
	"time"

	"github.com/aclements/go-moremath/stats"

	"example.com/byhand/compare/peers"
)

// backlog starts the peer on n Foos that have nothing yet. From when a tenth of them is done
// until nine tenths are, every 100 ms a new Foo is created: how long does it wait for its
// Deployment?
func (b *bench) backlog(ctx context.Context, peer peers.Peer, n int) error {
	return b.with(ctx, peer, n, func(ctx context.Context, r *run) error {
		limited, cancel := r.limit(ctx, n)
		defer cancel()
		names := fooNames(n)
		marks := []*mark{r.expect(deployments, made, names...), r.expect(foos, statusWritten, names...)}
		p, err := r.start(ctx)
		if err != nil {
			return err
		}
		samples, err := r.behind(limited, p, n, marks[1])
		if err != nil {
			return err
		}
		for _, one := range samples {
			marks = append(marks, one.mark)
		}
		if _, err := r.await(limited, p.Done(), marks...); err != nil {
			return err
		}
		// A small backlog may be gone before anything could be seen behind it.
		if len(samples) == 0 {
			return nil
		}
		var waited []float64
		for _, one := range samples {
			waited = append(waited, one.mark.last.Sub(one.begin).Seconds())
		}
		all := stats.Sample{Xs: waited}
		return b.report("Backlog", n, peer, len(samples), value(all.Mean(), "sec/op"), value(all.Quantile(0.5), p50), value(all.Quantile(0.99), p99))
	})
}

// sample is a Foo that waits for its Deployment since begin, when the request was sent that
// creates it. (When the answer arrives, the Deployment may be there.)
type sample struct {
	begin time.Time
	mark  *mark
}

// behind creates Foos while the statuses of n others are being written, 300 at most.
func (r *run) behind(ctx context.Context, p *process, n int, statuses *mark) (samples []sample, err error) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for statuses.missing() > n/10 && len(samples) < 300 {
		if statuses.missing() <= n-n/10 {
			name := fooName(n + len(samples))
			samples = append(samples, sample{time.Now(), r.expect(deployments, made, name)})
			if _, err := r.createFoo(ctx, newFoo(name)); err != nil {
				return nil, err
			}
		}
		if err := p.pause(ctx, tick.C); err != nil {
			return nil, err
		}
	}
	return samples, nil
}
