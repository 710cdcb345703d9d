package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/perf/benchfmt"

	"example.com/byhand/compare/peers"
)

// ratio makes the unit of a ratio of the unit of its two parts. It is 1 for the base.
func ratio(unit string) string { return unit + "/base" }

// compared are the units that have a ratio.
var compared = []string{perSecond, restPerSecond, "sec/op", cpuSeconds, cpuEach, serverSeconds, serverEach, peakMemory, liveMemory, p50, p99, aloneP50, aloneP99}

// measurement is one run of a peer with n Foos.
type measurement func(ctx context.Context, peer peers.Peer, n int) ([]benchfmt.Value, error)

// pairs measures each peer of a scenario between two runs of its base, and reports beside each
// figure its ratio to the mean of the two. A machine that other programs share is fast in one
// minute and slow in the next: that changes both parts of a ratio. A run that fails is a problem,
// and the others go on.
func (b *bench) pairs(ctx context.Context, s scenario, measure measurement) error {
	run := func(name string) []benchfmt.Value {
		values, err := measure(ctx, peer(name), s.foos)
		if err == nil {
			return values
		}
		if ctx.Err() == nil {
			b.problem(fmt.Errorf("%s, %s: %w", s.what, name, err))
		}
		return nil
	}
	before := run(s.base)
	err := b.report(s, s.base, before)
	for _, other := range s.others {
		own, after := run(other), run(s.base)
		err = errors.Join(err, b.report(s, other, append(own, ratios(own, before, after)...)), b.report(s, s.base, after))
		before = after
	}
	return err
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

// report writes down what was measured of a peer, if anything, and says it.
func (b *bench) report(s scenario, peer string, values []benchfmt.Value) error {
	if len(values) == 0 {
		return nil
	}
	name := fmt.Sprintf("%s/foos=%d/peer=%s", s.what, s.foos, peer)
	text := name
	for _, v := range values {
		text += fmt.Sprintf("  %.4g %s", v.Value, v.Unit)
	}
	b.say("%s", text)
	return b.write(name, 1, values...)
}
