package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// figures are the rows of the table.
var figures = []string{
	"Foos/s to the last status", "Foos/s to the last write", "CPU seconds", "peak memory (MiB)", "object writes per Foo", "Conflicts",
}

// table shows the medians of each form, and for each form after the first the first one's ratio
// to it. runs has for each form its runs, one for each round.
func table(names []string, runs [][]run) string {
	var out strings.Builder
	fmt.Fprintf(&out, "| figure | %s |", strings.Join(names, " | "))
	for _, other := range names[1:] {
		fmt.Fprintf(&out, " %s ÷ %s |", names[0], other)
	}
	out.WriteString("\n|---|" + strings.Repeat("---|", 2*len(names)-1) + "\n")
	for row, figure := range figures {
		fmt.Fprintf(&out, "| %s |", figure)
		for i := range names {
			fmt.Fprintf(&out, " %.4g |", median(values(runs[i], row)))
		}
		for i := range names[1:] {
			fmt.Fprintf(&out, " %s |", summary(ratios(values(runs[0], row), values(runs[i+1], row))))
		}
		out.WriteString("\n")
	}
	return out.String()
}

// values returns one figure of some runs.
func values(runs []run, row int) (all []float64) {
	for _, r := range runs {
		all = append(all, r.figures[row])
	}
	return all
}

// ratios divides two forms' figures round by round. It returns nil if a divisor is 0.
func ratios(own, other []float64) (all []float64) {
	for i := range own {
		if other[i] == 0 {
			return nil
		}
		all = append(all, own[i]/other[i])
	}
	return all
}

// summary is the median and its interval, which needs at least five values.
func summary(values []float64) string {
	switch {
	case len(values) == 0:
		return "–"
	case len(values) < 5:
		return fmt.Sprintf("%.2f", median(values))
	}
	low, high := interval(values)
	return fmt.Sprintf("%.2f (%.2f to %.2f)", median(values), low, high)
}

func median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// interval is the bootstrap 95 % interval of the median: of 10,000 samples with replacement, the
// middle 95 % of their medians. The same values always have the same interval.
func interval(values []float64) (low, high float64) {
	const samples = 10000
	random := rand.New(rand.NewPCG(1, 1))
	medians, sample := make([]float64, samples), make([]float64, len(values))
	for i := range medians {
		for j := range sample {
			sample[j] = values[random.IntN(len(values))]
		}
		medians[i] = median(sample)
	}
	slices.Sort(medians)
	return medians[samples*25/1000], medians[samples*975/1000-1]
}
