package main

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"example.com/byhand/compare/peers"
)

// scenario is something that is measured with so many Foos: each of the others between two runs
// of the base, round after round.
type scenario struct {
	what         string
	foos, rounds int
	base         string
	others       []string
}

// plan says what is measured.
type plan struct {
	scenarios []scenario
	// atOnce is how many steps are under way together: one, if times are to mean
	// anything.
	atOnce int
}

// full is one session of what the page of results shows. Five rounds are the fewest that give a
// median an interval of 90 %, from the smallest to the largest of them.
func full() plan {
	return plan{atOnce: 1, scenarios: []scenario{
		// The base watches what every controller watches, and sends what every controller has to
		// send.
		{"ColdStart", 1000, 5, "floor-watch", []string{"byhand-silent", "sample-controller-tuned-silent", "controller-runtime-tuned-silent",
			"byhand", "sample-controller-tuned", "controller-runtime-tuned", "floor"}},
		// These take minutes, and show once what they can do.
		{"ColdStart", 100, 1, "floor-watch", []string{"sample-controller"}},
		{"ColdStart", 1000, 1, "floor-watch", []string{"controller-runtime"}},
		{"Backlog", 1000, 3, "byhand", []string{"sample-controller-tuned", "controller-runtime", "controller-runtime-tuned"}},
		{"CacheSync", 10000, 5, "byhand", []string{"sample-controller-tuned", "controller-runtime", "controller-runtime-tuned"}},
		{"CacheSync", 100000, 5, "byhand", []string{"sample-controller-tuned", "controller-runtime-tuned"}},
		{"APIServer", 0, 1, "", nil},
	}}
}

// quick sees that everything works.
func quick() plan {
	return plan{atOnce: 4, scenarios: []scenario{
		{"ColdStart", 200, 1, "floor-watch", []string{"byhand", "floor"}},
		{"ColdStart", 200, 1, "floor-watch", []string{"sample-controller-tuned", "controller-runtime", "controller-runtime-tuned"}},
		{"ColdStart", 200, 1, "floor-watch", []string{"byhand-silent", "sample-controller-tuned-silent", "controller-runtime-tuned-silent"}},
		{"ColdStart", 10, 1, "floor-watch", []string{"sample-controller"}},
		{"Backlog", 200, 1, "byhand", []string{"sample-controller-tuned"}},
		{"CacheSync", 200, 1, "byhand", []string{"sample-controller-tuned", "controller-runtime", "controller-runtime-tuned"}},
		{"APIServer", 0, 1, "", nil},
	}}
}

// step is what is done without a pause.
type step struct {
	what string
	do   func(ctx context.Context) error
}

// steps puts the plan in order. Every first round comes before any second one.
func (b *bench) steps(wanted *regexp.Regexp) (all []step) {
	for round, more := 1, true; more; round++ {
		more = false
		for _, s := range b.plan.scenarios {
			if round > s.rounds || round > 1 && s.what == "CacheSync" {
				continue
			}
			more = true
			what := fmt.Sprintf("%s: %d Foos, round %d: %s", s.what, s.foos, round, strings.Join(s.others, ", "))
			all = append(all, step{what, func(ctx context.Context) error { return b.take(ctx, s) }})
		}
	}
	return slices.DeleteFunc(all, func(s step) bool { return !wanted.MatchString(s.what) })
}

// take measures a round of a scenario.
func (b *bench) take(ctx context.Context, s scenario) error {
	switch s.what {
	case "ColdStart":
		return b.pairs(ctx, s, b.coldStart)
	case "Backlog":
		return b.pairs(ctx, s, b.backlog)
	case "CacheSync":
		return b.cacheSync(ctx, s)
	default:
		return b.apiServer(ctx)
	}
}

// peer returns the peer with this name.
func peer(name string) peers.Peer {
	all := peers.All()
	return all[slices.IndexFunc(all, func(p peers.Peer) bool { return p.Name == name })]
}
