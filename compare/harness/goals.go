package main

import (
	"fmt"
	"slices"

	"golang.org/x/perf/benchmath"
)

// goal bounds byhand's figure, as a ratio to that of another program.
type goal struct {
	scenario, unit, of string
	// fewest: of the fewest Foos that both were measured with, instead of the most.
	fewest bool
	// sign is ≥ or ≤.
	sign  string
	bound float64
	// why is the reason, if it is not reached.
	why string
}

// against returns byhand's figures divided by another program's, round by round, and the number
// of Foos. Both are ratios to the base, which itself is 1: so what the machine did meanwhile
// cancels out.
func (f figures) against(g goal) (ratios []float64, foos string) {
	groups := f.groups(g.scenario)
	if g.fewest {
		slices.Reverse(groups)
	}
	for _, measured := range groups {
		values := map[string][]float64{}
		for _, e := range measured.entries {
			values[e.who] = e.values[ratio(g.unit)]
		}
		own, hasOwn := values["byhand"]
		other, hasOther := values[g.of]
		if !hasOwn || !hasOther {
			continue
		}
		// Who has no ratios is the base.
		if len(own) == 0 {
			own = slices.Repeat([]float64{1}, len(other))
		} else if len(other) == 0 {
			other = slices.Repeat([]float64{1}, len(own))
		}
		ratios, foos = nil, measured.what
		for i := range min(len(own), len(other)) {
			ratios = append(ratios, own[i]/other[i])
		}
	}
	return ratios, foos
}

// goalTable shows each goal, what was measured, and whether it is reached.
func (f figures) goalTable() string {
	table, reasons := [][]string{{"`byhand`", "÷", "Foos", "goal", "measured", ""}}, ""
	for _, g := range goals {
		ratios, foos := f.against(g)
		if len(ratios) == 0 {
			continue
		}
		outcome := g.outcome(summarize(ratios))
		if outcome != "reached" && g.why != "" {
			reasons += "\n" + g.why + "\n"
		}
		table = append(table, []string{heading(g.unit), "`" + g.of + "`", foos, fmt.Sprintf("%s %.2f", g.sign, g.bound), median(ratios, ratio("")), outcome})
	}
	if len(table) == 1 {
		return ""
	}
	return "\n## Goals\n\n" + aboutGoals + "\n\n" + markdown(table) + reasons
}

// outcome says whether a goal is reached by the median, and whether the interval is all on that
// side of the bound.
func (g goal) outcome(s benchmath.Summary) string {
	text := "reached"
	if s.Center != g.bound && (s.Center > g.bound) != (g.sign == "≥") {
		text = "not reached"
	}
	if s.Lo < g.bound && g.bound < s.Hi {
		text += ", not certain"
	}
	return text
}
