package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/perf/benchfmt"
)

// What is written comes back, and what is added later stands behind it: values, units,
// what is known about the machine, and what go test has printed between them.
func TestRawRoundTrip(t *testing.T) {
	file := filepath.Join(t.TempDir(), rawFile)
	about := func(command string) []benchfmt.Config {
		return []benchfmt.Config{{Key: "cores", Value: []byte("2"), File: true}, {Key: "command", Value: []byte(command), File: true}}
	}
	if _, err := openRaw(file, true, about("one")); err == nil {
		t.Error("no error, though there is nothing to go on with")
	}
	write := func(goOn bool, command, output string, sec float64) {
		r, err := openRaw(file, goOn, about(command))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(r.text([]byte(output)), r.add("ColdStart/foos=7/peer=byhand", 1, value(sec, "sec/op"), value(2, perSecond)), r.close()); err != nil {
			t.Fatal(err)
		}
	}
	write(false, "one", "goos: linux\nBenchmarkGet/wire=json/client=byhand-2   \t 10\t 2500 ns/op\n--- SKIP: BenchmarkDeepCopy\n    x.go:1: printed\nPASS\nok  \texample.com/byhand/compare\t1.0s\n", 3.21)
	write(true, "two", "", 1.0/3)

	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	f := read(t, string(text))
	var got [][]string
	for _, s := range f.all {
		line := []string{s.Name.String(), s.GetConfig("cores"), s.GetConfig("command")}
		for _, v := range s.Values {
			line = append(line, fmt.Sprintf("%.6g %s", v.Value, v.Unit))
		}
		got = append(got, line)
	}
	want := [][]string{
		{"Get/wire=json/client=byhand-2", "", "", "2.5e-06 sec/op"},
		{"ColdStart/foos=7/peer=byhand", "2", "one", "3.21 sec/op", "2 foos/s"},
		{"ColdStart/foos=7/peer=byhand", "2", "two", "0.333333 sec/op", "2 foos/s"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if f.units.GetBetter(perSecond) != 1 || !strings.HasPrefix(string(text), "Unit foos/s better=higher") {
		t.Errorf("more Foos a second are not better:\n%s", text)
	}
}
