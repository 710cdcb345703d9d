package main

import (
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Every first round precedes any second, and the rounds of a cache are one step.
func TestSteps(t *testing.T) {
	b := &bench{plan: plan{scenarios: []scenario{
		{"ColdStart", 10, 2, "floor-watch", []string{"byhand", "floor"}}, {"ColdStart", 3, 1, "floor-watch", []string{"sample-controller"}},
		{"CacheSync", 5, 4, "byhand", []string{"controller-runtime"}}, {"Backlog", 7, 2, "byhand", nil},
	}}}
	var got []string
	for _, s := range b.steps(regexp.MustCompile("ColdStart|Cache")) {
		got = append(got, s.what)
	}
	want := []string{
		"ColdStart: 10 Foos, round 1: byhand, floor",
		"ColdStart: 3 Foos, round 1: sample-controller",
		"CacheSync: 5 Foos, round 1: controller-runtime",
		"ColdStart: 10 Foos, round 2: byhand, floor",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
