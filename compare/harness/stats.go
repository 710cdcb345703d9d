package main

import (
	"slices"
	"time"
)

// median returns the middle value, the mean of the two middle ones, or 0 of none.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// percentile returns the smallest value that is not exceeded by p percent of them
// (the nearest rank), or 0 of none.
func percentile(values []time.Duration, p int) time.Duration {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	rank := (len(sorted)*p + 99) / 100
	return sorted[max(rank, 1)-1]
}

// ratios divides the measurements of two programs round by round: the k-th of one
// was made next to the k-th of the other.
func ratios(values, base []float64) []float64 {
	var all []float64
	for i := range min(len(values), len(base)) {
		if base[i] != 0 {
			all = append(all, values[i]/base[i])
		}
	}
	return all
}
