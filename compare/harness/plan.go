package main

import (
	"context"
	"fmt"
	"regexp"
	"slices"

	"example.com/byhand/compare/peers"
)

// plan says how much of everything is done.
type plan struct {
	coldStart size
	// slowFoos is the size for peers that a limit of their own makes slow.
	slowFoos int
	backlog  size
	caches   []size
	// atOnce is how many steps are under way together: one, if times are to mean
	// anything.
	atOnce int
}

// size is a number of Foos, and in how many rounds it is measured.
type size struct{ foos, rounds int }

// full is what the page of results shows.
func full() plan {
	return plan{
		coldStart: size{1000, 12}, slowFoos: 20,
		backlog: size{2000, 4},
		caches:  []size{{10000, 4}, {100000, 2}},
		atOnce:  1,
	}
}

// quick sees that everything works.
func quick() plan {
	return plan{
		coldStart: size{200, 1}, slowFoos: 10,
		backlog: size{200, 1},
		caches:  []size{{200, 1}},
		atOnce:  4,
	}
}

// step is what is done without a pause.
type step struct {
	what string
	do   func(ctx context.Context) error
}

// steps puts the plan in order. Every first round comes before any second one.
func (b *bench) steps(wanted *regexp.Regexp) (all []step) {
	add := func(what string, foos, round int, do func(ctx context.Context) error) {
		all = append(all, step{fmt.Sprintf("%s: %d Foos, round %d", what, foos, round), do})
	}
	for round := 1; round <= max(b.plan.coldStart.rounds, b.plan.backlog.rounds); round++ {
		if n := b.plan.coldStart; round <= n.rounds {
			// The base watches what every controller watches, and sends what every controller has
			// to send.
			add("ColdStart", n.foos, round, func(ctx context.Context) error {
				return b.pairs(ctx, "ColdStart", n.foos, b.peersWhere(isBase)[0], b.peersWhere(isPaired), b.coldStart)
			})
		}
		if n := b.plan.backlog; round <= n.rounds {
			for _, peer := range b.peersWhere(func(p peers.Peer) bool { return !p.Loop && !slow(p) }) {
				add("Backlog of "+peer.Name, n.foos, round, func(ctx context.Context) error { return b.backlog(ctx, peer, n.foos) })
			}
		}
		if round > 1 {
			continue
		}
		// The others as shipped show once what they can do, and not what takes minutes.
		for _, peer := range b.peersWhere(isOnce) {
			n := b.plan.coldStart.foos
			if slow(peer) {
				n = b.plan.slowFoos
			}
			add("ColdStart of "+peer.Name, n, round, func(ctx context.Context) error {
				values, err := b.coldStart(ctx, peer, n)
				if err != nil {
					return err
				}
				return b.report("ColdStart", n, peer, 1, values...)
			})
		}
		// All rounds of a size share a control plane, since no peer writes.
		for _, n := range b.plan.caches {
			add("CacheSync", n.foos, round, func(ctx context.Context) error { return b.cacheSync(ctx, b.peersWhere(caches), n) })
		}
	}
	return slices.DeleteFunc(all, func(s step) bool { return !wanted.MatchString(s.what) })
}

func isBase(p peers.Peer) bool   { return p.Name == "floor-watch" }
func isOnce(p peers.Peer) bool   { return p.Shipped && p.Name != "byhand" }
func isPaired(p peers.Peer) bool { return !isBase(p) && !isOnce(p) }

// peersWhere returns the chosen peers that fulfil a condition.
func (b *bench) peersWhere(condition func(peers.Peer) bool) []peers.Peer {
	return slices.DeleteFunc(slices.Clone(b.peers), func(p peers.Peer) bool { return !condition(p) })
}
