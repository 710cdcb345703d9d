package main

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"time"

	"example.com/byhand/compare/peers"
)

// plan says how much of everything is done.
type plan struct {
	// sizes are the cold starts. The smallest goes on with everything that is done to
	// Foos that are there.
	sizes []size
	// slowFoos is the size for peers that a limit of their own makes slow.
	slowFoos int
	// singles is how many Foos are created one by one.
	singles  int
	backlogs []size
	// idle is for how long nothing happens, resync how often every object is looked at
	// again in that time.
	idle, resync                    time.Duration
	idleFoos                        int
	cleanFailovers, killedFailovers int
	caches                          []size
	// The Go benchmarks: how often, and how long each.
	goRounds int
	goTime   string
	// carry: count what a reader carries.
	carry bool
	// apiServers is how many objects each aggregated API server gets.
	apiServers objects
	// atOnce is how many steps are under way together: one, if times are to mean
	// anything.
	atOnce int
}

// size is a number of Foos, and in how many rounds it is measured.
type size struct{ foos, rounds int }

// objects is a number of objects, and in how many rounds they are asked for.
type objects struct{ objects, rounds int }

// full is what the page of results shows.
func full() plan {
	return plan{
		sizes:    []size{{1000, 5}, {5000, 1}},
		slowFoos: 20,
		singles:  200,
		backlogs: []size{{2000, 4}},
		idle:     65 * time.Second, resync: 30 * time.Second, idleFoos: 1000,
		cleanFailovers: 5, killedFailovers: 1,
		caches:   []size{{10000, 5}, {100000, 1}},
		goRounds: 5, goTime: "200ms",
		carry:      true,
		apiServers: objects{1000, 5},
		atOnce:     1,
	}
}

// quick sees that everything works.
func quick() plan {
	return plan{
		sizes:    []size{{200, 1}},
		slowFoos: 10,
		singles:  5,
		backlogs: []size{{200, 1}},
		caches:   []size{{200, 1}},
		idle:     5 * time.Second, resync: 2 * time.Second, idleFoos: 200,
		cleanFailovers: 1,
		goRounds:       1, goTime: "10x",
		apiServers: objects{100, 1},
		atOnce:     4,
	}
}

// step is what is done without a pause. Steps of the first round are always taken,
// others while there is time.
type step struct {
	round int
	what  string
	do    func(ctx context.Context) error
}

// steps puts the plan in order. Every first round comes before any second one, so
// that time that runs short costs rounds and no scenario; within a round the peers
// take turns.
func (b *bench) steps(wanted *regexp.Regexp) []step {
	var all []step
	if b.plan.goRounds > 0 {
		all = append(all, step{1, "Go benchmarks", b.goBenchmarks})
	}
	if b.plan.carry {
		all = append(all, step{1, "Carry", b.carry}, step{1, "Carry: API servers", b.carryAPIServers})
	}
	for round := 1; round <= b.plan.rounds(); round++ {
		all = append(all, b.coldStarts(round)...)
		for _, s := range within(b.plan.backlogs, round) {
			for _, peer := range b.peersWhere(func(p peers.Peer) bool { return !p.Loop && !slow(p) }) {
				all = append(all, step{round, fmt.Sprintf("Backlog: %d Foos, %s, round %d", s.foos, peer.Name, round),
					func(ctx context.Context) error { return b.backlog(ctx, peer, s.foos) }})
			}
		}
		if round == 1 {
			// All rounds of a size share a control plane, since no peer writes.
			for _, s := range b.plan.caches {
				all = append(all, step{round, fmt.Sprintf("CacheSync: %d Foos", s.foos),
					func(ctx context.Context) error { return b.cacheSync(ctx, b.peersWhere(caches), s) }})
			}
			all = append(all, step{round, "Idle", func(ctx context.Context) error { return b.sideBySide(ctx, b.peersWhere(idles), b.plan.idleFoos, idle) }},
				step{round, "Failover", func(ctx context.Context) error { return b.sideBySide(ctx, b.peersWhere(b.failsOver), 1, failover) }})
			if b.plan.apiServers.rounds > 0 {
				all = append(all, step{round, "APIServer", b.apiServers})
			}
		}
	}
	return slices.DeleteFunc(all, func(s step) bool { return !wanted.MatchString(s.what) })
}

// coldStarts are the cold starts of a round, and what follows on the smallest.
func (b *bench) coldStarts(round int) []step {
	var all []step
	for i, s := range b.plan.sizes {
		for _, peer := range b.peersAt(i, round) {
			n := b.plan.foosOf(peer, s.foos)
			what, do := "ColdStart", func(ctx context.Context) error { return b.birth(ctx, peer, n) }
			if i == 0 {
				what, do = "ColdStart, Change, Delete, Latency", func(ctx context.Context) error { return b.life(ctx, peer, n) }
			}
			all = append(all, step{round, fmt.Sprintf("%s: %d Foos, %s, round %d", what, n, peer.Name, round), do})
		}
	}
	return all
}

// foosOf returns how many Foos a peer gets where the others get n.
func (p plan) foosOf(peer peers.Peer, n int) int {
	if slow(peer) {
		return min(n, p.slowFoos)
	}
	return n
}

// rounds returns the number of rounds of what has the most.
func (p plan) rounds() int {
	most := 1
	for _, s := range slices.Concat(p.sizes, p.backlogs) {
		most = max(most, s.rounds)
	}
	return most
}

func within(sizes []size, round int) []size {
	return slices.DeleteFunc(slices.Clone(sizes), func(s size) bool { return s.rounds < round })
}

// peersAt returns who takes part in a round of the i-th size. The others as shipped show once
// what they can do, and not what takes minutes.
func (b *bench) peersAt(i, round int) []peers.Peer {
	s := b.plan.sizes[i]
	return b.peersWhere(func(p peers.Peer) bool {
		switch {
		case round > s.rounds:
			return false
		case p.Shipped && p.Name != "byhand":
			return i == 0 && round == 1
		default:
			return true
		}
	})
}

// peersWhere returns the chosen peers that fulfil a condition.
func (b *bench) peersWhere(condition func(peers.Peer) bool) []peers.Peer {
	return slices.DeleteFunc(slices.Clone(b.peers), func(p peers.Peer) bool { return !condition(p) })
}
