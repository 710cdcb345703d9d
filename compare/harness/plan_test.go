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

// Within a round the peers take turns, every first round precedes any second, and what others
// take minutes for is done once.
func TestStepsAreInterleaved(t *testing.T) {
	b := &bench{plan: plan{coldStarts: []size{{10, 2}}, slowFoos: 3}, peers: peers.All()}
	got := lines(b.steps(regexp.MustCompile("ColdStart.*(byhand|sample-controller|floor),")))
	want := []string{
		"ColdStart: 10 Foos, byhand, round 1",
		"ColdStart: 3 Foos, sample-controller, round 1",
		"ColdStart: 10 Foos, floor, round 1",
		"ColdStart: 10 Foos, byhand, round 2",
		"ColdStart: 10 Foos, floor, round 2",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Each peer takes part in both plans, and whoever is compared in time gets at least the rounds
// without which nothing is significant.
func TestPlans(t *testing.T) {
	for name, p := range map[string]plan{"full": full(), "quick": quick()} {
		all := lines((&bench{plan: p, peers: peers.All()}).steps(regexp.MustCompile("")))
		for _, peer := range peers.All() {
			if !slices.ContainsFunc(all, func(s string) bool { return strings.Contains(s, " "+peer.Name+",") }) {
				t.Errorf("%s: %s does not take part", name, peer.Name)
			}
		}
		if name == "full" && (p.coldStarts[0].rounds < fewest || p.backlog.rounds < fewest || p.caches[0].rounds < fewest) {
			t.Errorf("fewer than %d rounds in %+v", fewest, p)
		}
	}
}
