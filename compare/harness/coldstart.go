package main

import (
	"context"
	"time"

	"golang.org/x/perf/benchfmt"

	"example.com/byhand/compare/peers"
	"example.com/byhand/internal/requests"
)

// coldStart starts the peer on n Foos that have nothing yet and measures until the
// last one has a Deployment and a status, as a watch of the API server sees it.
// It goes on until nothing more is written, so that no write is missed.
func (b *bench) coldStart(ctx context.Context, peer peers.Peer, n int) (measured []benchfmt.Value, err error) {
	err = b.with(ctx, peer, n, func(ctx context.Context, r *run) error {
		limited, cancel := r.limit(ctx, n)
		defer cancel()
		before, cpuBefore, err := r.metrics(ctx)
		if err != nil {
			return err
		}
		names := fooNames(n)
		p, err := r.start(ctx)
		if err != nil {
			return err
		}
		end, err := r.await(limited, p.Done(), names, r.made, r.status)
		if err != nil {
			return err
		}
		if peer.Loop {
			// It ends now, and only then all of its time is known.
			if err := p.Wait(ctx); err != nil {
				return err
			}
		}
		busy, err := r.settled(ctx, end)
		if err != nil {
			return err
		}
		cpu, err := p.CPU()
		if err != nil {
			return err
		}
		after, cpuAfter, err := r.metrics(ctx)
		if err != nil {
			return err
		}

		sent := after.Minus(before)
		each := func(of requests.Counts) float64 { return float64(of.Sum()) / float64(n) }
		rate := func(until time.Time) float64 { return float64(n) / until.Sub(p.Started).Seconds() }
		measured = []benchfmt.Value{
			value(end.Sub(p.Started).Seconds(), "sec/op"), value(rate(end), perSecond), value(rate(busy), restPerSecond),
			value(cpu.Seconds()/float64(n), cpuEach), value((cpuAfter-cpuBefore)/float64(n), serverEach),
			value(each(sent.Writes()), writesEach), value(float64(sent.Conflicts().Sum()), conflicts), value(each(sent.Events()), eventsEach),
			value(float64(p.peakRSS()), peakMemory), value(float64(p.ofFile.Load()), fileMemory),
		}
		return nil
	})
	return measured, err
}
