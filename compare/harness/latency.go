package main

import (
	"context"
	"slices"
	"time"

	"github.com/aclements/go-moremath/stats"
	"golang.org/x/perf/benchfmt"

	"example.com/byhand/compare/peers"
)

// waits are what is measured of how long single Foos waited.
func waits(seconds []float64) []benchfmt.Value {
	all := stats.Sample{Xs: seconds}
	return []benchfmt.Value{value(all.Mean(), "sec/op"), value(all.Quantile(0.5), p50), value(all.Quantile(0.99), p99)}
}

// oneByOne creates Foos while nothing else is going on, each when the one before is
// done, and measures from the request for it until its Deployment is seen.
func (r *run) oneByOne(ctx context.Context, p *process, existing, n int) error {
	limited, cancel := r.limit(ctx, n)
	defer cancel()
	var all []float64
	for i := range n {
		begin := time.Now()
		at, err := r.createAndAwait(limited, p, fooName(existing+i))
		if err != nil {
			return err
		}
		all = append(all, at.Sub(begin).Seconds())
	}
	return r.bench.report("Latency", existing, r.peer, len(all), waits(all)...)
}

// createAndAwait creates a Foo and returns when its Deployment was seen, once the process
// has also written its status.
func (r *run) createAndAwait(ctx context.Context, p *process, name string) (time.Time, error) {
	created, status := r.expect(deployments, made, name), r.expect(foos, statusWritten, name)
	if _, err := r.createFoo(ctx, newFoo(name)); err != nil {
		return time.Time{}, err
	}
	_, err := r.await(ctx, p.Done(), created, status)
	at, _ := created.when(name)
	return at, err
}

// backlog starts the peer on n Foos that have nothing yet. From when a tenth of them
// is done until nine tenths are, every 100 ms a new Foo is created and one that is
// done already is changed: how long do these two wait for their Deployments?
func (b *bench) backlog(ctx context.Context, peer peers.Peer, n int) error {
	return b.with(ctx, peer, n, func(ctx context.Context, r *run) error {
		limited, cancel := r.limit(ctx, n)
		defer cancel()
		names := fooNames(n)
		created, statuses := r.expect(deployments, made, names...), r.expect(foos, statusWritten, names...)
		p, err := r.start(ctx, peers.Options{})
		if err != nil {
			return err
		}
		samples := &backlogSamples{run: r, names: names, created: created, statuses: statuses}
		if err := samples.take(limited, p, n); err != nil {
			return err
		}
		marks := []*mark{created, statuses}
		for _, one := range slices.Concat(samples.fresh, samples.changed) {
			marks = append(marks, one.mark)
		}
		if _, err := r.await(limited, p.Done(), marks...); err != nil {
			return err
		}
		for kind, all := range map[string][]sample{"new": samples.fresh, "changed": samples.changed} {
			// A small backlog may be gone before anything could be seen behind it.
			if len(all) == 0 {
				continue
			}
			if err := b.report("Backlog/foo="+kind, n, peer, len(all), waits(waited(all))...); err != nil {
				return err
			}
		}
		return nil
	})
}

// backlogSamples are the Foos that were created and changed behind a backlog.
type backlogSamples struct {
	*run
	names             []string // of those not yet changed
	created, statuses *mark
	fresh, changed    []sample
}

// sample is a Foo that waits for its Deployment since begin, when the request was
// sent that makes it wait. (When the answer arrives, the Deployment may be there.)
type sample struct {
	name  string
	begin time.Time
	mark  *mark
}

// most is how many samples of each sort are taken.
const most = 300

func (s *backlogSamples) take(ctx context.Context, p *process, n int) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for s.statuses.missing() > n/10 && len(s.fresh) < most {
		if s.statuses.missing() <= n-n/10 {
			if err := s.create(ctx, fooName(n+len(s.fresh))); err != nil {
				return err
			}
			if err := s.change(ctx); err != nil {
				return err
			}
		}
		if err := p.pause(ctx, tick.C); err != nil {
			return err
		}
	}
	return nil
}

func (s *backlogSamples) create(ctx context.Context, name string) error {
	s.fresh = append(s.fresh, sample{name, time.Now(), s.expect(deployments, made, name)})
	_, err := s.createFoo(ctx, newFoo(name))
	return err
}

// change changes a Foo that is done and has not been changed.
func (s *backlogSamples) change(ctx context.Context) error {
	for i, name := range s.names {
		_, created := s.created.when(name)
		if _, status := s.statuses.when(name); created && status {
			s.names = slices.Delete(s.names, i, i+1)
			s.changed = append(s.changed, sample{name, time.Now(), s.expect(deployments, specWritten, name)})
			return s.scaleFoo(ctx, name, 2)
		}
	}
	return nil
}

// waited returns how many seconds each of them has waited, once all marks are reached.
func waited(samples []sample) (seconds []float64) {
	for _, one := range samples {
		at, _ := one.mark.when(one.name)
		seconds = append(seconds, at.Sub(one.begin).Seconds())
	}
	return seconds
}
