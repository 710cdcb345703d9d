package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/byhand/compare/peers"
)

func lines(steps []step) []string {
	var all []string
	for _, s := range steps {
		all = append(all, s.what)
	}
	return all
}

// Within a round the peers take turns, and every first round precedes any second.
func TestStepsAreInterleaved(t *testing.T) {
	b := &bench{plan: plan{sizes: []size{{10, 2}}, slowFoos: 3}, peers: peers.All()}
	got := lines(b.steps(regexp.MustCompile("ColdStart.*(byhand|sample-controller|floor),")))
	want := []string{
		"ColdStart, Change, Delete, Latency: 10 Foos, byhand, round 1",
		"ColdStart, Change, Delete, Latency: 3 Foos, sample-controller, round 1",
		"ColdStart, Change, Delete, Latency: 10 Foos, floor, round 1",
		"ColdStart, Change, Delete, Latency: 10 Foos, byhand, round 2",
		"ColdStart, Change, Delete, Latency: 10 Foos, floor, round 2",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Whoever is compared in time gets at least five rounds of what takes seconds, and
// each peer takes part.
func TestFullPlan(t *testing.T) {
	b := &bench{plan: full(), peers: peers.All()}
	all := lines(b.steps(regexp.MustCompile("")))
	rounds := func(part string) (n int) {
		for _, line := range all {
			if strings.Contains(line, part) {
				n++
			}
		}
		return n
	}
	for _, test := range []struct {
		part string
		want int
	}{
		{"Latency: 1000 Foos, byhand,", 5}, {"Latency: 1000 Foos, sample-controller-tuned,", 5}, {"ColdStart, Change, Delete, Latency: 1000 Foos, controller-runtime,", 1},
		{"Latency: 1000 Foos, floor,", 5}, {"ColdStart: 5000 Foos, byhand,", 1}, {"ColdStart: 5000 Foos, controller-runtime-tuned,", 1},
		{"ColdStart: 5000 Foos, floor,", 1}, {"ColdStart: 5000 Foos, controller-runtime,", 0}, {"Backlog: 2000 Foos, byhand,", 4},
		{"Latency: 1000 Foos, floor-watch,", 5}, {"ColdStart: 5000 Foos, floor-watch,", 1},
		{"Foos, sample-controller,", 1}, {"CacheSync: 100000 Foos", 1}, {"Idle", 1}, {"Failover", 1}, {"Go benchmarks", 1}, {"Carry", 2},
		{"APIServer", 1},
	} {
		if got := rounds(test.part); got != test.want {
			t.Errorf("%q: %d steps, want %d", test.part, got, test.want)
		}
	}
}

// Quick leaves out what takes long, but no peer.
func TestQuickPlan(t *testing.T) {
	b := &bench{plan: quick(), peers: peers.All()}
	all := b.steps(regexp.MustCompile(""))
	for _, peer := range peers.All() {
		if !slices.ContainsFunc(all, func(s step) bool { return strings.Contains(s.what, " "+peer.Name+",") }) {
			t.Errorf("%s does not take part", peer.Name)
		}
	}
	if len(all) > 18 {
		t.Errorf("%d steps: %v", len(all), lines(all))
	}
}
