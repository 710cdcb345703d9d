//go:build long

package main

import (
	"slices"
	"strings"
	"testing"

	"example.com/byhand/judge/reference/bugs"
)

// real are the scenarios by which only the judge on a real control plane catches a bug.
var real = []string{"thousand"}

// In memory the judge finds each bug of the reference, by each scenario that must, except those of
// real.
func TestReference(t *testing.T) {
	binary, err := build(root(t), "../reference", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, bug := range bugs.All {
		t.Run(string(bug.Name), func(t *testing.T) {
			t.Parallel()
			named := slices.DeleteFunc(slices.Clone(bug.CaughtBy), func(name string) bool { return slices.Contains(real, name) })
			if len(named) == 0 {
				t.Fatal("no scenario in memory is to catch it")
			}
			output, short := play(t, "../reference", binary, strings.Join(named, "|"), "-"+string(bug.Name))
			for _, name := range named {
				if !slices.Contains(short, name) {
					t.Errorf("%s does not catch it:\n%s", name, output)
				}
			}
		})
	}
}
