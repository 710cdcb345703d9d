package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The ratio of each round counts, and not the ratio of the medians. Five rounds have an interval.
func TestTable(t *testing.T) {
	var own, other []run
	for _, round := range [][2]float64{{10, 10}, {20, 10}, {90, 30}, {40, 10}, {500, 100}} {
		own = append(own, run{figures: []float64{round[0], 8, 1, 1, 2, 0}})
		other = append(other, run{figures: []float64{round[1], 16, 1, 1, 2, 0}})
	}
	want := `| figure | mine | theirs | mine ÷ theirs |
|---|---|---|---|
| Foos/s to the last status | 40 | 10 | 3.00 (1.00 to 5.00) |
| Foos/s to the last write | 8 | 16 | 0.50 (0.50 to 0.50) |
| CPU seconds | 1 | 1 | 1.00 (1.00 to 1.00) |
| peak memory (MiB) | 1 | 1 | 1.00 (1.00 to 1.00) |
| object writes per Foo | 2 | 2 | 1.00 (1.00 to 1.00) |
| Conflicts | 0 | 0 | – |
`
	if diff := cmp.Diff(want, table([]string{"mine", "theirs"}, [][]run{own, other})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSummary(t *testing.T) {
	for _, test := range []struct {
		reason string
		values []float64
		want   string
	}{
		{"no ratios", nil, "–"},
		{"too few for an interval", []float64{3, 1, 2, 4}, "2.50"},
		{"one outlier of nine does not widen it", []float64{1, 1.1, 1, 1.1, 1, 1.1, 1, 1.1, 9}, "1.10 (1.00 to 1.10)"},
	} {
		if got := summary(test.values); got != test.want {
			t.Errorf("%s: %s, want %s", test.reason, got, test.want)
		}
	}
}
