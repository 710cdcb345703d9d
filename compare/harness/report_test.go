package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Four rounds of two peers and one of a third, and a benchmark of Go.
var rawText = `Unit foos/s better=higher
cores: 2
command: go run ./harness -scenarios "byhand|floor"

BenchmarkColdStart/foos=50/peer=sample-controller 1 10 sec/op 5 foos/s 3 writes/foo 0 409s 20971520 peak-RSS-B
BenchmarkColdStart/foos=1000/peer=floor 1 2 sec/op 500 foos/s 2 writes/foo 0 409s 31457280 peak-RSS-B
` + strings.Repeat(`BenchmarkColdStart/foos=1000/peer=controller-runtime 1 5 sec/op 200 foos/s 2.57 writes/foo 570 409s 52428800 peak-RSS-B
BenchmarkColdStart/foos=1000/peer=byhand 1 4 sec/op 300 foos/s 2 writes/foo 0 409s 41943040 peak-RSS-B
`, 4) + `
BenchmarkGet/wire=json/client=bare-2 10 1000 ns/op 10 B/op 1 allocs/op
BenchmarkGet/wire=json/client=generated-2 10 3000 ns/op 64 B/op 3 allocs/op
BenchmarkGet/wire=json/client=byhand-2 10 2000 ns/op 64 B/op 4 allocs/op
BenchmarkCarry/peer=byhand 1 1799 read-loc
`

func read(t *testing.T, text string) *figures {
	t.Helper()
	f, err := readRaw(strings.NewReader(text), "raw")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// The lines of a table are in the order of the sizes and of the peers, whatever came
// first, and each peer is compared with the first of its size.
func TestTable(t *testing.T) {
	f := read(t, rawText)
	got, err := f.table(coldStart)
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{
		{"Foos", "program", "Foos/s", "difference", "Foos/s until the last write", "writes/Foo", "409s", "Events/Foo", "CPU time", "peak RSS", "rounds"},
		{"50", "`sample-controller`", "5", "–", "–", "3", "0", "–", "–", "20.00MiB", "1"},
		{"1000", "`byhand`", "300", "–", "–", "2", "0", "–", "–", "40.00MiB", "4"},
		{"1000", "`controller-runtime`", "200", "worse, -33.33% (p=0.029 n=4)", "–", "2.57", "570", "–", "–", "50.00MiB", "4"},
		{"1000", "`floor`", "500", "too few rounds", "–", "2", "0", "–", "–", "30.00MiB", "1"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Fewer than four rounds give no verdict, however far apart they are.
func TestVerdict(t *testing.T) {
	const more, less = +1, -1
	for _, test := range []struct {
		reason      string
		better      int
		own, others []float64
		want        string
	}{
		{"one round", more, []float64{120}, []float64{1}, "too few rounds"},
		{"three rounds", less, []float64{120, 121, 122}, []float64{1, 2, 3}, "too few rounds"},
		{"three rounds of one", less, []float64{120, 121, 122, 123, 124}, []float64{1, 2, 3}, "too few rounds"},
		{"alike in one round", more, []float64{120}, []float64{120}, "too few rounds"},
		{"more is better", more, []float64{21, 22, 23, 24}, []float64{10, 11, 12, 13}, "better, +95.65% (p=0.029 n=4)"},
		{"less is better", less, []float64{21, 22, 23, 24}, []float64{10, 11, 12, 13}, "worse, +95.65% (p=0.029 n=4)"},
		{"alike", less, []float64{2, 2, 2, 2}, []float64{2, 2, 2, 2}, "equal"},
		{"within the noise", more, []float64{90, 100, 110, 120, 130}, []float64{95, 105, 115, 118, 126}, "no significant difference (p=1.000 n=5)"},
	} {
		if got := verdict(test.own, test.others, test.better); got != test.want {
			t.Errorf("%s: %q, want %q", test.reason, got, test.want)
		}
	}
}

func TestMedian(t *testing.T) {
	for _, test := range []struct {
		unit   string
		values []float64
		want   string
	}{
		{perSecond, nil, "–"}, {perSecond, []float64{300, 100, 210.5}, "210.5"}, {perSecond, []float64{100, 90, 80, 110, 120}, "100 ± 20%"},
		{eventsEach, []float64{0.09}, "0.09"}, {conflicts, []float64{35748}, "35748"},
		{"sec/op", []float64{0.01234}, "12.34ms"}, {p99, []float64{1.5}, "1.500s"}, {peakMemory, []float64{42.5 * (1 << 20)}, "42.50MiB"}, {"B/op", []float64{2048}, "2.000KiB"},
	} {
		if got := median(test.values, test.unit); got != test.want {
			t.Errorf("%v %s: %q, want %q", test.values, test.unit, got, test.want)
		}
	}
}

// The page has a section for what was measured, and for nothing else.
func TestPage(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, rawFile), []byte(rawText), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := writePage(dir); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(dir, pageFile))
	if err != nil {
		t.Fatal(err)
	}
	page := string(content)
	for _, want := range []string{"| cores | 2 |", "| command | `go run ./harness -scenarios \"byhand\\|floor\"` |", "## Cold start", "(throughput.svg)",
		"## Client calls, JSON", "## What a reader carries", "| own lines of code, from main to the typed client | 1799 |\n\n", "## Method"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	for _, unwanted := range []string{"## Idle", "## DeepCopy", "## Every Foo changed", "NaN", "%!"} {
		if strings.Contains(page, unwanted) {
			t.Errorf("the page has %q", unwanted)
		}
	}
	svg, err := os.ReadFile(filepath.Join(dir, pictureFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Cold start of 1000 Foos", ">byhand<", ">floor<", ">500<"} {
		if !strings.Contains(string(svg), want) {
			t.Errorf("the picture has no %q:\n%s", want, svg)
		}
	}
}

// More than one machine is seen on the page.
func TestMachines(t *testing.T) {
	f := read(t, "goos: linux\nBenchmarkGet/client=byhand-2 100 5 ns/op\n\ncores: 2\nBenchmarkColdStart/foos=1/peer=byhand 1 1 sec/op\ncores: 4\nBenchmarkColdStart/foos=1/peer=byhand 1 1 sec/op\n")
	if got := f.machine(); !strings.Contains(got, "| cores | 2, then 4 |") {
		t.Errorf("machine:\n%s", got)
	}
}

func TestReadRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":       "goos: linux\n",
		"a broken line": "BenchmarkGet/client=byhand 1 five ns/op\n",
	} {
		if _, err := readRaw(strings.NewReader(text), "raw"); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// The page in the repository is made of the numbers beside it, by this code.
func TestResultsAreUpToDate(t *testing.T) {
	const results = "../results"
	numbers, err := os.ReadFile(filepath.Join(results, rawFile))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, rawFile), numbers, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := writePage(dir); err != nil {
		t.Fatal(err)
	}
	made, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range made {
		want, err := os.ReadFile(filepath.Join(dir, file.Name()))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(results, file.Name()))
		if err != nil || string(got) != string(want) {
			t.Errorf("%s is not what raw.txt says (%v): go run ./harness -report", file.Name(), err)
		}
	}
}
