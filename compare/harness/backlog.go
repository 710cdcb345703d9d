package main

import (
	"context"
	"time"

	"github.com/aclements/go-moremath/stats"
	"golang.org/x/perf/benchfmt"

	"example.com/byhand/compare/peers"
)

// backlog starts the peer on n Foos that have nothing yet. From when a tenth of them is done
// until nine tenths are, every 100 ms a new Foo is created, and after the last one a hundred more,
// each alone: how long do they wait for their Deployments?
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
		var values []benchfmt.Value
		// A small backlog may be gone before anything could be seen behind it.
		if len(samples) > 0 {
			behind := waits(samples)
			values = append(values, value(behind.Quantile(0.5), p50), value(behind.Quantile(0.99), p99))
		}
		next := n + len(samples)
		samples = nil
		for i := range 100 {
			one, err := r.create(limited, next+i)
			if err != nil {
				return err
			}
			if _, err := r.await(limited, p.Done(), one.mark); err != nil {
				return err
			}
			samples = append(samples, one)
		}
		alone := waits(samples)
		return b.report("Backlog", n, peer, 1, append(values, value(alone.Quantile(0.5), aloneP50), value(alone.Quantile(0.99), aloneP99))...)
	})
}

// sample is a Foo that waits for its Deployment since begin, when the request was sent that
// creates it. (When the answer arrives, the Deployment may be there.)
type sample struct {
	begin time.Time
	mark  *mark
}

// create creates the Foo with this number.
func (r *run) create(ctx context.Context, i int) (sample, error) {
	one := sample{time.Now(), r.expect(deployments, made, fooName(i))}
	_, err := r.createFoo(ctx, newFoo(fooName(i)))
	return one, err
}

// waits are how long the Foos have waited, in seconds.
func waits(samples []sample) (all stats.Sample) {
	for _, one := range samples {
		all.Xs = append(all.Xs, one.mark.last.Sub(one.begin).Seconds())
	}
	return all
}

// behind creates Foos while the statuses of n others are being written, 300 at most.
func (r *run) behind(ctx context.Context, p *process, n int, statuses *mark) (samples []sample, err error) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for statuses.missing() > n/10 && len(samples) < 300 {
		if statuses.missing() <= n-n/10 {
			one, err := r.create(ctx, n+len(samples))
			if err != nil {
				return nil, err
			}
			samples = append(samples, one)
		}
		if err := p.pause(ctx, tick.C); err != nil {
			return nil, err
		}
	}
	return samples, nil
}
