package carry

import (
	"context"
	"os"
)

// Figure is one measurement of one form.
type Figure struct {
	// Peer is the form's name, as package peers has it.
	Peer string
	// Metric says in words what was measured.
	Metric string
	Value  float64
	// Unit is the metric's name in the Go benchmark format, different for each metric.
	Unit string
}

// Options say what is measured. The zero value is all that takes no longer than a
// build whose packages are in the cache.
type Options struct {
	// CleanBuild also compiles each form into an empty build cache, which takes minutes.
	CleanBuild bool
	// Log hears what is being done, if it is not nil.
	Log func(format string, args ...any)
}

// form is one of the programs: what to build, which modules are the project's own, and
// how it writes a status.
type form struct {
	peer string
	main string // the import path of package main
	own  []string
	call call
}

func forms() []form {
	return []form{
		{"byhand", "example.com/byhand", []string{"example.com/byhand"}, byHand},
		{"sample-controller", "k8s.io/sample-controller", []string{"k8s.io/sample-controller"}, generated},
		{"controller-runtime", "example.com/byhand/compare/framework", []string{"example.com/byhand/compare", "example.com/byhand"}, framework},
	}
}

// Measure returns the figures of all forms. It needs the Go toolchain, and a working
// directory inside the module compare.
func Measure(ctx context.Context, opts Options) ([]Figure, error) {
	dir, err := os.MkdirTemp("", "carry-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	log := opts.Log
	if log == nil {
		log = func(string, ...any) {}
	}

	var all []Figure
	for _, f := range forms() {
		add := func(value float64, unit, metric string) { all = append(all, Figure{f.peer, metric, value, unit}) }
		log("%s: reading its sources", f.peer)
		code, err := f.list(ctx, "")
		if err != nil {
			return nil, err
		}
		path, err := f.wire(ctx)
		if err != nil {
			return nil, err
		}
		add(float64(code.read), "read-lines", "own lines to read, from main to the typed client")
		add(float64(code.internal), "internal-lines", "own lines beside the controller (internal/)")
		add(float64(code.generated), "generated-lines", "lines that a generator wrote")
		add(float64(len(path.functions)), "wire-hops", "library functions from the typed client to net/http")
		add(float64(path.lines), "wire-lines", "their lines")
		add(float64(code.framework), "framework-lines", "lines of controller-runtime in the program")
		add(float64(code.direct), "direct-modules", "modules that the project imports")
		add(float64(code.indirect), "indirect-modules", "further modules in the program")
		add(float64(code.packages), "packages", "packages in the program, without the standard library")
		add(float64(code.linked), "linked-lines", "lines of other people's packages in the program")

		log("%s: building", f.peer)
		built, err := f.build(ctx, "", dir, opts.CleanBuild)
		if err != nil {
			return nil, err
		}
		add(float64(built.size), "binary-B", "program, as go build makes it")
		add(float64(built.stripped), "stripped-B", "program without symbols (-ldflags '-s -w')")
		if opts.CleanBuild {
			add(built.clean.Seconds(), "build-sec", "clean build, standard library included")
			add(built.cleanCPU.Seconds(), "build-cpu-sec", "processor time of the clean build")
		}
	}
	return all, nil
}
