package main

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/perf/benchfmt"

	"example.com/byhand/compare/peers"
)

// ratio makes the unit of a ratio of the unit of its two parts. It is 1 for the base.
func ratio(unit string) string { return unit + "/base" }

// compared are the units that have a ratio.
var compared = []string{perSecond, restPerSecond, "sec/op", cpuSeconds, cpuEach, serverEach, peakMemory, liveMemory, p50, p99, aloneP50, aloneP99}

// measurement is one run of a peer with n Foos.
type measurement func(ctx context.Context, peer peers.Peer, n int) ([]benchfmt.Value, error)

// pairs measures each peer of a scenario between two runs of its base, and reports beside each
// figure its ratio to the mean of the two. A machine that other programs share is fast in one
// minute and slow in the next: that changes both parts of a ratio.
func (b *bench) pairs(ctx context.Context, s scenario, measure measurement) error {
	base := func() ([]benchfmt.Value, error) {
		values, err := measure(ctx, peer(s.base), s.foos)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.base, err)
		}
		return values, b.report(s, s.base, values)
	}
	before, err := base()
	if err != nil {
		return err
	}
	for _, other := range s.others {
		own, failed := measure(ctx, peer(other), s.foos)
		after, err := base()
		if err != nil {
			return err
		}
		if failed != nil {
			b.problem(fmt.Errorf("%s, %s: %w", s.what, other, failed))
		} else if err := b.report(s, other, append(own, ratios(own, before, after)...)); err != nil {
			return err
		}
		before = after
	}
	return nil
}

// ratios returns the ratio of each compared figure to the mean of the runs before and after, of
// those that all three have.
func ratios(own, before, after []benchfmt.Value) (all []benchfmt.Value) {
	for _, unit := range compared {
		mine, one, other := valueOf(own, unit), valueOf(before, unit), valueOf(after, unit)
		if mine*one*other > 0 {
			all = append(all, value(2*mine/(one+other), ratio(unit)))
		}
	}
	return all
}

// valueOf returns the value with this unit, 0 if there is none.
func valueOf(values []benchfmt.Value, unit string) float64 {
	i := slices.IndexFunc(values, func(v benchfmt.Value) bool { return v.Unit == unit })
	if i < 0 {
		return 0
	}
	return values[i].Value
}

// report writes down what was measured of a peer, and says it.
func (b *bench) report(s scenario, peer string, values []benchfmt.Value) error {
	name := fmt.Sprintf("%s/foos=%d/peer=%s", s.what, s.foos, peer)
	text := name
	for _, v := range values {
		text += fmt.Sprintf("  %.4g %s", v.Value, v.Unit)
	}
	b.say("%s", text)
	return b.write(name, 1, values...)
}
