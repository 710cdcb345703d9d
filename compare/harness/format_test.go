package main

import (
	"math"
	"testing"
)

func TestFormats(t *testing.T) {
	for _, test := range []struct {
		show  format
		value float64
		want  string
	}{
		{number, 0, "0"}, {number, 0.1234, "0.12"}, {number, 9.876, "9.88"}, {number, 98.76, "98.8"}, {number, 987.6, "988"}, {number, 98765.4, "98,765"},
		{whole, 1234567, "1,234,567"}, {whole, 123, "123"}, {ratio, 1.234, "1.23"}, {ratio, 0.0123, "0.012"}, {ratio, 0, "0.00"}, {exact, 2, "2.000"}, {exact, 2.0005, "2.001"},
		{seconds, 0, "0 s"}, {seconds, 12, "12.0 s"}, {seconds, 12.34, "12.3 s"}, {seconds, 0.01234, "12.3 ms"}, {seconds, 0.00001234, "12.3 µs"}, {seconds, 12.3e-9, "12.3 ns"},
		{mebibytes, 42.5 * (1 << 20), "42.5"},
	} {
		if got := test.show(test.value); got != test.want {
			t.Errorf("%v is shown as %q, want %q", test.value, got, test.want)
		}
	}
}

func TestVerdict(t *testing.T) {
	rate := contest{unit: perSecond, better: more, show: number}
	wait := contest{unit: p50, better: less, show: seconds}
	for _, test := range []struct {
		reason      string
		contest     contest
		own, others []float64
		want        string
	}{
		{"more is better", rate, []float64{120}, []float64{100}, "better, × 1.20"},
		{"less is better", wait, []float64{2}, []float64{1}, "**worse**, × 0.50"},
		{"shown alike", rate, []float64{100.1}, []float64{100.2}, "equal"},
		{"none against some", wait, []float64{0}, []float64{3}, "better"},
		{"some against none", wait, []float64{3}, []float64{0}, "**worse**"},
		{"within the noise", rate, []float64{90, 100, 110, 120, 130}, []float64{95, 105, 115, 118, 126}, "not to be told apart, × 0.96"},
		{"beyond the noise", rate, []float64{210, 220, 230, 240, 250}, []float64{95, 105, 115, 118, 126}, "better, × 2.00"},
	} {
		if got := test.contest.verdict(test.own, test.others); got != test.want {
			t.Errorf("%s: %q, want %q", test.reason, got, test.want)
		}
	}
}

// Only who competes can be best, and nobody is if all are shown alike.
func TestBest(t *testing.T) {
	rate := func(v float64, competes bool) row {
		return row{[]cell{{figure: number(v), value: v}}, competes}
	}
	for _, test := range []struct {
		reason string
		table  table
		want   string
	}{
		{"more", table{[]column{{"", more}}, []row{rate(1, true), rate(3, true), rate(9, false)}}, "3.00"},
		{"less", table{[]column{{"", less}}, []row{rate(2, true), rate(3, true), rate(1, false)}}, "2.00"},
		{"no contest", table{[]column{{"", 0}}, []row{rate(2, true), rate(3, true)}}, ""},
		{"alike", table{[]column{{"", more}}, []row{rate(2.001, true), rate(2.002, true)}}, ""},
		{"a dash", table{[]column{{"", less}}, []row{rate(2, true), rate(3, true), {[]cell{missing}, true}}}, "2.00"},
		{"alone", table{[]column{{"", less}}, []row{rate(2, true)}}, ""},
	} {
		if got := test.table.best(0); got != test.want {
			t.Errorf("%s: %q, want %q", test.reason, got, test.want)
		}
	}
	if !math.IsNaN(missing.value) {
		t.Error("a dash has a value")
	}
}
