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

// What is written comes back: values, units, and what is known about the machine.
func TestRawRoundTrip(t *testing.T) {
	file := filepath.Join(t.TempDir(), rawFile)
	r, err := openRaw(file, []benchfmt.Config{{Key: "cores", Value: []byte("2"), File: true}, {Key: "command", Value: []byte("one"), File: true}})
	if err != nil {
		t.Fatal(err)
	}
	coldStart := func(sec float64) error {
		return r.add("ColdStart/foos=7/peer=byhand", 1, value(sec, "sec/op"), value(2, perSecond))
	}
	if err := errors.Join(coldStart(3.21), coldStart(1.0/3), r.close()); err != nil {
		t.Fatal(err)
	}

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
		{"ColdStart/foos=7/peer=byhand", "2", "one", "3.21 sec/op", "2 foos/s"},
		{"ColdStart/foos=7/peer=byhand", "2", "one", "0.333333 sec/op", "2 foos/s"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if f.units.GetBetter(perSecond) != 1 || !strings.HasPrefix(string(text), "Unit foos/s better=higher") {
		t.Errorf("more Foos a second are not better:\n%s", text)
	}
}
