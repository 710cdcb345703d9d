package main

import (
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/byhand/compare/peers"
)

// Every first round precedes any second, and what others take minutes for is done once.
func TestSteps(t *testing.T) {
	b := &bench{plan: plan{coldStart: size{10, 2}, slowFoos: 3, caches: []size{{5, 4}}, backlog: size{7, 2}}, peers: peers.All()}
	var got []string
	for _, s := range b.steps(regexp.MustCompile("ColdStart|Cache|Backlog of byhand:")) {
		got = append(got, s.what)
	}
	want := []string{
		"ColdStart: 10 Foos, round 1",
		"Backlog of byhand: 7 Foos, round 1",
		"ColdStart of sample-controller: 3 Foos, round 1",
		"ColdStart of controller-runtime: 10 Foos, round 1",
		"CacheSync: 5 Foos, round 1",
		"ColdStart: 10 Foos, round 2",
		"Backlog of byhand: 7 Foos, round 2",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
