package carry

import (
	"context"
	"os"
)

// Figure is one measurement of one form.
type Figure struct {
	// Peer is the form's name, as package peers has it.
	Peer string
	// Unit is what was measured, in the Go benchmark format; Words says it in words.
	Unit  string
	Value float64
}

// units are what is measured, and what it means.
var units = []struct{ name, words string }{
	{"read-loc", "own lines of code, from main to the typed client"},
	{"internal-loc", "own lines of code beside the controller (internal/)"},
	{"generated-loc", "generated lines of code"},
	{"framework-loc", "lines of code of controller-runtime in the program"},
	{"linked-loc", "lines of code of other people in the program"},
	{"direct-modules", "modules that the project imports"},
	{"indirect-modules", "further modules in the program"},
	{"packages", "packages in the program, without the standard library"},
	{"binary-B", "program, as go build makes it"},
	{"stripped-B", "program without symbols (-ldflags '-s -w')"},
}

// Units returns the units of all figures, in the order in which they are shown.
func Units() (names []string) {
	for _, unit := range units {
		names = append(names, unit.name)
	}
	return names
}

// Words says what a unit means, "" if it is none of Units.
func Words(unit string) (words string) {
	for _, u := range units {
		if u.name == unit {
			words = u.words
		}
	}
	return words
}

// form is one of the programs: what to build, and which modules are the project's own.
type form struct {
	peer string
	main string // the import path of package main
	own  []string
}

var forms = []form{
	{peer: "byhand", main: "example.com/byhand", own: []string{"example.com/byhand"}},
	{peer: "sample-controller", main: "k8s.io/sample-controller", own: []string{"k8s.io/sample-controller"}},
	{peer: "controller-runtime", main: "example.com/byhand/compare/framework", own: []string{"example.com/byhand/compare", "example.com/byhand"}},
}

// Measure returns what there is to count in all forms of the controller. It needs the Go
// toolchain, and a working directory inside the module compare.
func Measure(ctx context.Context) ([]Figure, error) {
	into, err := os.MkdirTemp("", "carry-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(into) }()
	var all []Figure
	for _, f := range forms {
		measured := map[string]float64{}
		if err := f.count(ctx, ".", measured); err != nil {
			return nil, err
		}
		if err := f.sizes(ctx, ".", into, measured); err != nil {
			return nil, err
		}
		for _, unit := range units {
			if value, ok := measured[unit.name]; ok {
				all = append(all, Figure{f.peer, unit.name, value})
			}
		}
	}
	return all, nil
}
