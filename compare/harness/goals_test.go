package main

import (
	"fmt"
	"strings"
	"testing"
)

// A goal's ratio is made round by round, at each size, also where one of the two is the base. It is
// reached if the whole interval and each session are on its side.
func TestGoals(t *testing.T) {
	var text strings.Builder
	for _, session := range []float64{1, 2} {
		fmt.Fprintf(&text, "date: %g\n", session)
		for i := 1.0; i <= 5; i++ {
			fmt.Fprintf(&text, "BenchmarkA/foos=9/peer=floor-watch 1 7 x\nBenchmarkA/foos=9/peer=byhand 1 7 x %g x/base\nBenchmarkA/foos=9/peer=double 1 7 x %g x/base\n", i*session, 2*i*session)
			fmt.Fprintf(&text, "BenchmarkB/foos=20/peer=byhand 1 7 x\nBenchmarkB/foos=20/peer=double 1 7 x %g x/base\nBenchmarkB/foos=3/peer=byhand 1 7 x\nBenchmarkB/foos=3/peer=double 1 7 x 1 x/base\n", 2*session)
		}
	}
	f, err := readRaw([]byte(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	defer func(real []goal) { goals = real }(goals)
	for _, test := range []struct {
		goal goal
		want []string
	}{
		{goal{scenario: "A", of: "double", sign: "≤", bound: 0.5}, []string{"9 | ≤ 0.50 | 0.50 (0.50 to 0.50) | 0.50, 0.50 | reached | 0.12 (0.06 to 0.25)"}},
		{goal{scenario: "A", of: "double", sign: "≥", bound: 0.6}, []string{"9 | ≥ 0.60 | 0.50 (0.50 to 0.50) | 0.50, 0.50 | not reached"}},
		{goal{scenario: "A", of: "floor-watch", sign: "≥", bound: 4}, []string{"9 | ≥ 4.00 | 4.00 (2.00 to 6.00) | 3.00, 6.00 | not certain"}},
		{goal{scenario: "B", of: "double", sign: "≥", bound: 1}, []string{"3 | ≥ 1.00 | 1.00 (1.00 to 1.00) | 1.00, 1.00 | reached", "20 | ≥ 1.00 | 0.38 (0.25 to 0.50) | 0.50, 0.25 | not reached"}},
	} {
		test.goal.own, test.goal.unit = "byhand", "x"
		goals = []goal{test.goal}
		for _, want := range test.want {
			if got := f.goalTable(); !strings.Contains(got, want) {
				t.Errorf("%s, %s: %s\nwant %s", test.goal.scenario, test.goal.of, got, want)
			}
		}
	}
	// The interval alone is not enough: one session on the other side leaves doubt.
	if got := (goal{sign: "≤", bound: 1}).outcome(summarize([]float64{0.8, 0.8, 0.8, 0.8, 0.8}), []float64{0.7, 1.1}); got != "not certain" {
		t.Errorf("with one session on the other side: %s", got)
	}
}
