package main

import (
	"context"
	"fmt"

	"golang.org/x/perf/benchfmt"

	"example.com/byhand/compare/peers"
)

// ratio makes the unit of a ratio of the unit of its two parts. It is 1 for the base.
func ratio(unit string) string { return unit + "/base" }

// compared are the units that have a ratio: what changes with the speed of the machine.
var compared = []string{perSecond, restPerSecond, "sec/op", cpuSeconds, serverSeconds}

// measurement is one run of a peer with n Foos.
type measurement func(ctx context.Context, peer peers.Peer, n int) ([]benchfmt.Value, error)

// pairs measures each peer between two runs of the base, and reports beside each figure its
// ratio to the mean of the two. A machine that other programs share is fast in one minute and
// slow in the next: that changes both parts of a ratio.
func (b *bench) pairs(ctx context.Context, what string, n int, base peers.Peer, others []peers.Peer, measure measurement) error {
	before, err := measure(ctx, base, n)
	if err != nil {
		return fmt.Errorf("%s: %w", base.Name, err)
	}
	for _, peer := range others {
		own, failed := measure(ctx, peer, n)
		after, err := measure(ctx, base, n)
		if err != nil {
			return fmt.Errorf("%s: %w", base.Name, err)
		}
		if err := b.report(what, n, base, 1, after...); err != nil {
			return err
		}
		if failed != nil {
			b.problem(fmt.Errorf("%s, %s: %w", what, peer.Name, failed))
		} else if err := b.report(what, n, peer, 1, append(own, ratios(own, before, after)...)...); err != nil {
			return err
		}
		before = after
	}
	return nil
}

// ratios returns the ratio of each compared figure to the mean of the runs before and after.
func ratios(own, before, after []benchfmt.Value) (all []benchfmt.Value) {
	for i, v := range own {
		for _, unit := range compared {
			if v.Unit == unit {
				all = append(all, value(2*v.Value/(before[i].Value+after[i].Value), ratio(unit)))
			}
		}
	}
	return all
}
