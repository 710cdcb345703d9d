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
	// confidence is the highest common level at which five rounds give an interval.
	confidence = 0.9
	// missing stands for what was not measured.
	missing = "–"
)

// summarize returns the median and its interval, which is infinite for less than five values.
func summarize(values []float64) benchmath.Summary {
	return benchmath.AssumeNothing.Summary(benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds), confidence)
}

func finite(s benchmath.Summary) bool { return !math.IsInf(s.Hi-s.Lo, 0) }

// median shows the median of some values. A ratio has its confidence interval, if there are
// rounds enough, and any other figure its spread.
func median(values []float64, unit string) string {
	if len(values) == 0 {
		return missing
	}
	s := summarize(values)
	if strings.HasSuffix(unit, ratio("")) {
		text := fmt.Sprintf("%.2f", s.Center)
		if finite(s) {
			text += fmt.Sprintf(" (%.2f to %.2f)", s.Lo, s.Hi)
		}
		return text
	}
	text := benchunit.Scale(s.Center, benchunit.ClassOf(unit))
	switch {
	case strings.Contains(unit, "sec"):
		text += "s"
	case benchunit.ClassOf(unit) == benchunit.Binary:
		text += "B"
	default:
		text = fmt.Sprintf("%.4g", s.Center)
	}
	if finite(s) && s.Lo < s.Hi {
		text += " ± " + s.PctRangeString()
	}
	return text
}

// precision says what the smallest difference is that the rounds can show: for each ratio the
// half of its widest interval.
func (f figures) precision() (lines string) {
	for _, s := range sections {
		var widest []string
		for _, unit := range s.ratios {
			half := 0.0
			for _, g := range f.groups(s.scenario) {
				for _, e := range g.entries {
					if s := summarize(e.values[ratio(unit)]); s.Center > 0 && finite(s) {
						half = max(half, (s.Hi-s.Lo)/2/s.Center)
					}
				}
			}
			if half > 0 {
				widest = append(widest, fmt.Sprintf("%s %.0f %%", heading(unit), 100*half))
			}
		}
		if len(widest) > 0 {
			lines += fmt.Sprintf("  - %s: %s.\n", s.title, strings.Join(widest, ", "))
		}
	}
	if lines == "" {
		return ""
	}
	return "- The smallest difference that these rounds can show is half the widest interval of a ratio:\n" + lines
}
