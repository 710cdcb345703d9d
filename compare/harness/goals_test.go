package main

import (
	"fmt"
	"strings"
	"testing"
)

// A goal's ratio is made round by round, also where one of the two is the base. The median says
// whether it is reached, and it is not certain while the interval holds the bound.
func TestGoals(t *testing.T) {
	var text strings.Builder
	for i := 1.0; i <= 5; i++ {
		fmt.Fprintf(&text, "BenchmarkA/foos=9/peer=floor 1 7 x\nBenchmarkA/foos=9/peer=byhand 1 7 x %g x/base\nBenchmarkA/foos=9/peer=double 1 7 x %g x/base\n", i, 2*i)
		fmt.Fprintf(&text, "BenchmarkB/foos=20/peer=byhand 1 7 x\nBenchmarkB/foos=20/peer=double 1 7 x %g x/base\nBenchmarkB/foos=3/peer=byhand 1 7 x\n", 2*i)
	}
	f, err := readRaw([]byte(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		goal goal
		want string
	}{
		{goal{scenario: "A", of: "double", sign: "≤", bound: 0.6}, "0.50 (0.50 to 0.50) of 9 Foos: reached"},
		{goal{scenario: "A", of: "double", sign: "≥", bound: 0.6}, "0.50 (0.50 to 0.50) of 9 Foos: not reached"},
		{goal{scenario: "A", of: "floor", sign: "≥", bound: 2}, "3.00 (1.00 to 5.00) of 9 Foos: reached, not certain"},
		{goal{scenario: "B", of: "double", sign: "≥", bound: 1}, "0.17 (0.10 to 0.50) of 20 Foos: not reached"},
	} {
		test.goal.unit = "x"
		ratios, foos := f.against(test.goal)
		if got := fmt.Sprintf("%s of %s Foos: %s", median(ratios, ratio("x")), foos, test.goal.outcome(summarize(ratios))); got != test.want {
			t.Errorf("%s %s: %s, want %s", test.goal.scenario, test.goal.of, got, test.want)
		}
	}
}
