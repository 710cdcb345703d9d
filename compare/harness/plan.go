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
	coldStarts []size
	// slowFoos is the size for peers that a limit of their own makes slow.
	slowFoos int
	backlog  size
	caches   []size
	// carry: count what a reader carries.
	carry bool
	// atOnce is how many steps are under way together: one, if times are to mean
	// anything.
	atOnce int
}

// size is a number of Foos, and in how many rounds it is measured.
type size struct{ foos, rounds int }

// full is what the page of results shows.
func full() plan {
	return plan{
		coldStarts: []size{{1000, 5}, {5000, 1}}, slowFoos: 20,
		backlog: size{2000, 4},
		caches:  []size{{10000, 5}, {100000, 1}},
		carry:   true,
		atOnce:  1,
	}
}

// quick sees that everything works.
func quick() plan {
	return plan{
		coldStarts: []size{{200, 1}}, slowFoos: 10,
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

// steps puts the plan in order. Every first round comes before any second one, and within a
// round the peers take turns.
func (b *bench) steps(wanted *regexp.Regexp) []step {
	var all []step
	if b.plan.carry {
		all = append(all, step{"Carry", b.carry})
	}
	for round := 1; round <= b.plan.rounds(); round++ {
		all = append(all, b.round(round)...)
		if round > 1 {
			continue
		}
		// All rounds of a size share a control plane, since no peer writes.
		for _, s := range b.plan.caches {
			all = append(all, step{fmt.Sprintf("CacheSync: %d Foos", s.foos), func(ctx context.Context) error { return b.cacheSync(ctx, b.peersWhere(caches), s) }})
		}
	}
	return slices.DeleteFunc(all, func(s step) bool { return !wanted.MatchString(s.what) })
}

// round is what has a control plane for each peer.
func (b *bench) round(round int) (all []step) {
	add := func(what string, peer peers.Peer, foos int, do func(context.Context, peers.Peer, int) error) {
		all = append(all, step{fmt.Sprintf("%s: %d Foos, %s, round %d", what, foos, peer.Name, round), func(ctx context.Context) error { return do(ctx, peer, foos) }})
	}
	for i, s := range b.plan.coldStarts {
		for _, peer := range b.peers {
			// The others as shipped show once what they can do, and not what takes minutes.
			once := peer.Shipped && peer.Name != "byhand"
			switch {
			case round > s.rounds || once && (i > 0 || round > 1):
			case slow(peer):
				add("ColdStart", peer, min(s.foos, b.plan.slowFoos), b.coldStart)
			default:
				add("ColdStart", peer, s.foos, b.coldStart)
			}
		}
	}
	for _, peer := range b.peersWhere(func(p peers.Peer) bool { return !p.Loop && !slow(p) }) {
		if round <= b.plan.backlog.rounds {
			add("Backlog", peer, b.plan.backlog.foos, b.backlog)
		}
	}
	return all
}

// rounds returns the number of rounds of what has the most.
func (p plan) rounds() int {
	most := p.backlog.rounds
	for _, s := range p.coldStarts {
		most = max(most, s.rounds)
	}
	return most
}

// peersWhere returns the chosen peers that fulfil a condition.
func (b *bench) peersWhere(condition func(peers.Peer) bool) []peers.Peer {
	return slices.DeleteFunc(slices.Clone(b.peers), func(p peers.Peer) bool { return !condition(p) })
}
