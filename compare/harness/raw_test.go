package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/perf/benchfmt"
)

// What is written comes back: names, values, units and their meaning, and what is
// known about the machine; and what go test has printed between them.
func TestRawRoundTrip(t *testing.T) {
	file := filepath.Join(t.TempDir(), rawFile)
	r, err := createRaw(file, []benchfmt.Config{{Key: "cores", Value: []byte("2"), File: true}, {Key: "command", Value: []byte("make compare"), File: true}})
	if err != nil {
		t.Fatal(err)
	}
	name := measured("ColdStart", 1000, "byhand")
	for _, err := range []error{
		r.text([]byte("goos: linux\npkg: example.com/byhand/compare\nBenchmarkGet/wire=json/client=byhand-2   \t 10\t 2500 ns/op\t 64 B/op\t 3 allocs/op\n--- SKIP: BenchmarkDeepCopy\n    x.go:1: printed\nPASS\nok  \texample.com/byhand/compare\t1.0s\n")),
		r.add(name, 1, value(3.21, "sec/op"), value(2, writesEach)),
		r.meaning("read-lines", "own lines to read (-ldflags='-s -w')"),
		r.add("Carry/peer=byhand", 1, value(1799, "read-lines")),
		r.add(name, 1, value(1.0/3, "sec/op"), value(2, writesEach)),
		r.close(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}

	in, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	f, err := readRaw(in, file)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]line{
		"Get/wire=json/client=byhand": {{"sec/op": 2.5e-6, "B/op": 64, "allocs/op": 3}},
		name:                          {{"sec/op": 3.21, writesEach: 2}, {"sec/op": 0.333333, writesEach: 2}},
		"Carry/peer=byhand":           {{"read-lines": 1799}},
	}
	if diff := cmp.Diff(want, f.lines, cmp.Comparer(func(a, b float64) bool { return a-b < 1e-12 && b-a < 1e-12 })); diff != "" {
		t.Errorf("measurements (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"read-lines": "own lines to read (-ldflags='-s -w')"}, f.meaning); diff != "" {
		t.Errorf("meanings (-want +got):\n%s", diff)
	}
	if got := f.values(name, "sec/op"); !cmp.Equal(got, []float64{3.21, 0.333333}) {
		t.Errorf("values: %v", got)
	}
	if !f.has("ColdStart") || f.has("Cold") {
		t.Error("has must know whole base names, and no parts of them")
	}
}

// What is added later stands behind what is there, with its own command; another
// machine's figures are not mixed in.
func TestRawAppend(t *testing.T) {
	file := filepath.Join(t.TempDir(), rawFile)
	about := func(cores, command string) []benchfmt.Config {
		return []benchfmt.Config{{Key: "cores", Value: []byte(cores), File: true}, {Key: "command", Value: []byte(command), File: true}}
	}
	if _, err := appendRaw(file, about("2", "one")); err == nil {
		t.Error("no error, though there is nothing to append to")
	}
	first, err := createRaw(file, about("2", "one"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(first.add("Carry/peer=byhand", 1, value(7, "read-lines")), first.close()); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := appendRaw(file, about("4", "two")); err == nil || !strings.Contains(err.Error(), `cores "2", this is "4"`) {
		t.Errorf("of another machine: %v", err)
	}
	second, err := appendRaw(file, about("2", "two"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(second.add("Carry/peer=byhand", 1, value(9, "build-sec")), second.close()); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(after), string(before)) {
		t.Errorf("what was there has changed:\n%s", after)
	}
	f := read(t, string(after))
	if diff := cmp.Diff([]string{"one", "two"}, f.commands); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]line{{"read-lines": 7}, {"build-sec": 9}}, f.lines["Carry/peer=byhand"]); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

// The configuration is the machine's, not that of the first line of go test.
func TestRawConfiguration(t *testing.T) {
	f := read(t, "goos: linux\ncommand: make compare\n\nBenchmarkGet/client=byhand 1 5 ns/op\n")
	if got := f.where("command"); got != "make compare" {
		t.Errorf("command: %q", got)
	}
	if got := f.where("nothing"); got != "" {
		t.Errorf("a key that is not there: %q", got)
	}
}

func TestRawRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":       "goos: linux\n",
		"a broken line": "BenchmarkGet/client=byhand 1 five ns/op\n",
	} {
		if _, err := readRaw(strings.NewReader(text), "raw"); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestValueHasSixDigits(t *testing.T) {
	for v, want := range map[float64]float64{0: 0, 1.23456789: 1.23457, 123456789: 123457000, 0.000123456789: 0.000123457, 2: 2} {
		if got := value(v, "x").Value; got != want {
			t.Errorf("value(%v) = %v, want %v", v, got, want)
		}
	}
}

func read(t *testing.T, text string) *figures {
	t.Helper()
	f, err := readRaw(strings.NewReader(text), "raw")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// The output of go test, which comes first, says less of the machine than the harness.
func TestAboutTheMachine(t *testing.T) {
	f := read(t, "goos: linux\nBenchmarkGet/client=byhand-2 100 5 ns/op\n\ncores: 2\nBenchmarkColdStart/foos=1/peer=byhand 1 1 sec/op\n")
	if got := f.where("cores"); got != "2" {
		t.Errorf("cores: %q, want 2", got)
	}
}
