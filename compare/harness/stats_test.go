package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestMedian(t *testing.T) {
	for _, test := range []struct {
		values []float64
		want   float64
	}{{nil, 0}, {[]float64{7}, 7}, {[]float64{9, 1, 5}, 5}, {[]float64{4, 1, 2, 100}, 3}} {
		if got := median(test.values); got != test.want {
			t.Errorf("median of %v = %v, want %v", test.values, got, test.want)
		}
	}
}

func TestPercentile(t *testing.T) {
	var hundred []time.Duration
	for i := range 100 {
		hundred = append(hundred, time.Duration(100-i))
	}
	for _, test := range []struct {
		values []time.Duration
		p      int
		want   time.Duration
	}{{nil, 50, 0}, {hundred, 50, 50}, {hundred, 99, 99}, {hundred[:1], 50, 100}, {[]time.Duration{3, 1, 2}, 50, 2}, {[]time.Duration{3, 1, 2}, 99, 3}} {
		if got := percentile(test.values, test.p); got != test.want {
			t.Errorf("p%d of %d values = %d, want %d", test.p, len(test.values), got, test.want)
		}
	}
}

// Round by round, so that a slow minute of the machine cancels out; who has fewer
// rounds is compared in those.
func TestRatios(t *testing.T) {
	got := ratios([]float64{10, 30, 7}, []float64{20, 10})
	if diff := cmp.Diff([]float64{0.5, 3}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := ratios([]float64{1}, []float64{0}); got != nil {
		t.Errorf("a ratio to nothing: %v", got)
	}
}
