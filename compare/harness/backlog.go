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
		marks := []*mark{r.expect(deployments, made, names...), r.expect(foos, statusWritten, names...)}
		p, err := r.start(ctx)
		if err != nil {
			return err
		}
		behind, err := r.behind(limited, p, n, marks[1])
		if err != nil {
			return err
		}
		if _, err := r.await(limited, p.Done(), append(marks, behind...)...); err != nil {
			return err
		}
		var alone []*mark
		for i := range 100 {
			one, err := r.create(limited, n+len(behind)+i)
			if err == nil {
				_, err = r.await(limited, p.Done(), one)
			}
			if err != nil {
				return err
			}
			alone = append(alone, one)
		}
		values = []benchfmt.Value{value(waits(alone).Quantile(0.5), aloneP50), value(waits(alone).Quantile(0.99), aloneP99)}
		// A small backlog may be gone before anything could be seen behind it.
		if len(behind) > 0 {
			values = append(values, value(waits(behind).Quantile(0.5), p50), value(waits(behind).Quantile(0.99), p99))
		}
		return nil
	})
	return values, err
}

// create creates the Foo with this number. It waits for its Deployment from when the request is
// sent: when the answer arrives, the Deployment may be there.
func (r *run) create(ctx context.Context, i int) (*mark, error) {
	one := r.expect(deployments, made, fooName(i))
	_, err := r.createFoo(ctx, fooName(i))
	return one, err
}

// waits are how long the Foos have waited, in seconds.
func waits(marks []*mark) (all stats.Sample) {
	for _, one := range marks {
		all.Xs = append(all.Xs, one.last.Sub(one.begin).Seconds())
	}
	return all
}

// behind creates Foos while the statuses of n others are being written, 300 at most.
func (r *run) behind(ctx context.Context, p *process, n int, statuses *mark) (created []*mark, err error) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for statuses.missing() > n/10 && len(created) < 300 {
		if statuses.missing() <= n-n/10 {
			one, err := r.create(ctx, n+len(created))
			if err != nil {
				return nil, err
			}
			created = append(created, one)
		}
		if err := p.pause(ctx, tick.C); err != nil {
			return nil, err
		}
	}
	return created, nil
}
