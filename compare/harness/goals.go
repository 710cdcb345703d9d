package main

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/perf/benchmath"
)

// goal bounds a figure of a form of byhand, as a ratio to that of another program.
type goal struct {
	scenario, own, of, unit string
	// sign is ≥ or ≤.
	sign  string
	bound float64
}

// against returns the own figures divided by the other program's, round by round, for each number
// of Foos. Both are ratios to the base, which itself is 1: so what the machine did meanwhile
// cancels out.
func (f figures) against(g goal) (sizes []string, ratios map[string][]float64) {
	ratios = map[string][]float64{}
	for _, measured := range f.groups(g.scenario) {
		values := map[string][]float64{}
		for _, e := range measured.entries {
			values[e.who] = e.values[ratio(g.unit)]
		}
		own, hasOwn := values[g.own]
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
		sizes = append(sizes, measured.what)
		for i := range min(len(own), len(other)) {
			ratios[measured.what] = append(ratios[measured.what], own[i]/other[i])
		}
	}
	return sizes, ratios
}

// goalTable shows each goal at each size, what was measured in all sessions and in each, and
// whether it is reached, and what the floor with the watches has.
func (f figures) goalTable() string {
	table := [][]string{{"figure", "of", "÷", "Foos", "goal", "measured", "each session", "", "`floor-watch`"}}
	for _, g := range goals {
		sizes, ratios := f.against(g)
		_, limit := f.against(goal{scenario: g.scenario, own: "floor-watch", of: g.of, unit: g.unit})
		for _, foos := range sizes {
			var medians []float64
			var text []string
			for _, session := range f.sessions() {
				if _, ratios := session.against(g); len(ratios[foos]) > 0 {
					medians = append(medians, summarize(ratios[foos]).Center)
					text = append(text, fmt.Sprintf("%.2f", medians[len(medians)-1]))
				}
			}
			table = append(table, []string{heading(g.unit), "`" + g.own + "`", "`" + g.of + "`", foos, fmt.Sprintf("%s %.2f", g.sign, g.bound),
				median(ratios[foos], ratio("")), strings.Join(text, ", "), g.outcome(summarize(ratios[foos]), medians), median(limit[foos], ratio(""))})
		}
	}
	if len(table) == 1 {
		return ""
	}
	return "\n## Goals\n\n" + aboutGoals + "\n\n" + markdown(table)
}

// outcome says whether a goal is reached: by the whole interval, and by the median of each session.
func (g goal) outcome(s benchmath.Summary, sessions []float64) string {
	lowest, highest := min(s.Lo, slices.Min(sessions)), max(s.Hi, slices.Max(sessions))
	if g.sign == "≤" {
		lowest, highest = -highest, -lowest
		g.bound = -g.bound
	}
	switch {
	case lowest >= g.bound:
		return "reached"
	case highest < g.bound:
		return "not reached"
	default:
		return "not certain"
	}
}
