package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"golang.org/x/perf/benchmath"
	"golang.org/x/perf/benchunit"
)

const (
	// fewest is the number of rounds below which nothing can be significant: with three
	// each, chance alone puts all of one before all of the other once in ten times.
	fewest = 4
	// confidence is the highest common level at which five rounds give an interval.
	confidence = 0.9
	// missing stands for what was not measured.
	missing = "–"
)

func sampleOf(values []float64) *benchmath.Sample {
	return benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds)
}

func center(values []float64) float64 {
	return benchmath.AssumeNothing.Summary(sampleOf(values), confidence).Center
}

// median shows the median and, if there are rounds enough, its confidence interval.
func median(values []float64, unit string) string {
	if len(values) == 0 {
		return missing
	}
	summary := benchmath.AssumeNothing.Summary(sampleOf(values), confidence)
	text := benchunit.Scale(summary.Center, benchunit.ClassOf(unit))
	switch {
	case strings.HasSuffix(unit, "sec") || unit == "sec/op":
		text += "s"
	case benchunit.ClassOf(unit) == benchunit.Binary:
		text += "B"
	case summary.Center == math.Trunc(summary.Center):
		text = fmt.Sprintf("%.0f", summary.Center)
	default:
		text = fmt.Sprintf("%.4g", summary.Center)
	}
	if spread := summary.PctRangeString(); spread != "∞" && summary.Lo < summary.Hi {
		text += " ± " + spread
	}
	return text
}

// precision says what the smallest difference is that the rounds of a section can show.
func (f *figures) precision(s section) string {
	groups, err := f.groups(s)
	if err != nil || len(s.compared) == 0 {
		return ""
	}
	widest := 0.0
	for _, g := range groups {
		for _, e := range g.entries {
			for _, unit := range s.compared {
				if values := e.values[unit]; len(values) >= fewest {
					summary := benchmath.AssumeNothing.Summary(sampleOf(values), confidence)
					widest = max(widest, (summary.Hi-summary.Lo)/summary.Center)
				}
			}
		}
	}
	if widest == 0 {
		return ""
	}
	return fmt.Sprintf("\nThe widest interval of what is compared here spans %.0f%% of its median: a smaller difference these rounds cannot show.\n", 100*widest)
}

// difference says how an entry compares with the first one of its group.
func (f *figures) difference(g group, i int, unit string) string {
	base, values := g.entries[0].values[unit], g.entries[i].values[unit]
	if i == 0 || len(base) == 0 || len(values) == 0 {
		return missing
	}
	return verdict(values, base, f.units.GetBetter(unit))
}

// verdict says how one's own measurements compare with others. Too few say nothing,
// however far apart they are.
func verdict(own, others []float64, better int) string {
	if min(len(own), len(others)) < fewest {
		return "too few rounds"
	}
	mine, theirs := center(own), center(others)
	compared := benchmath.AssumeNothing.Compare(sampleOf(others), sampleOf(own))
	switch {
	case mine == theirs:
		return "equal"
	case compared.P > compared.Alpha:
		return fmt.Sprintf("no significant difference (%s)", compared)
	case (mine > theirs) == (better > 0):
		return fmt.Sprintf("better, %s (%s)", compared.FormatDelta(theirs, mine), compared)
	default:
		return fmt.Sprintf("worse, %s (%s)", compared.FormatDelta(theirs, mine), compared)
	}
}
