package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/perf/benchfmt"

	"example.com/byhand/compare/carry"
)

// goBenchmarks runs the Go benchmarks of the module and keeps their output as it is.
// Each round is a process of its own, so that what is compared takes turns.
func (b *bench) goBenchmarks(ctx context.Context) error {
	program := filepath.Join(b.dir, "benchmarks.test")
	if output, err := exec.CommandContext(ctx, "go", "test", "-c", "-o", program, ".").CombinedOutput(); err != nil {
		return fmt.Errorf("build the Go benchmarks: %w\n%s", err, output)
	}
	for range b.plan.goRounds {
		cmd := exec.CommandContext(ctx, program, "-test.run=^$", "-test.bench=.", "-test.benchmem", "-test.timeout=30m", "-test.benchtime="+b.plan.goTime)
		var failure bytes.Buffer
		cmd.Stderr = &failure
		output, err := cmd.Output()
		if err != nil {
			return fmt.Errorf("benchmarks of Go: %w\n%s%s", err, output, failure.Bytes())
		}
		if err := b.raw.text(output); err != nil {
			return err
		}
	}
	return nil
}

// carry counts what a reader of each form carries.
func (b *bench) carry(ctx context.Context) error {
	return b.burdens(ctx, carry.Options{}, func(string) bool { return true })
}

// cleanBuild times the builds into an empty cache, which take minutes. The figures that
// carry has given already are left out.
func (b *bench) cleanBuild(ctx context.Context) error {
	return b.burdens(ctx, carry.Options{CleanBuild: true}, func(unit string) bool { return strings.HasPrefix(unit, "build-") })
}

// burdens writes down what is measured in the wanted units.
func (b *bench) burdens(ctx context.Context, options carry.Options, wanted func(unit string) bool) error {
	options.Log = func(format string, args ...any) { b.say("Carry: "+format, args...) }
	figures, err := carry.Measure(ctx, options)
	if err != nil {
		return err
	}
	var names []string
	values := map[string][]benchfmt.Value{}
	known := map[string]bool{}
	for _, figure := range figures {
		if !wanted(figure.Unit) {
			continue
		}
		if !known[figure.Unit] {
			known[figure.Unit] = true
			if err := b.raw.meaning(figure.Unit, figure.Metric); err != nil {
				return err
			}
		}
		if values[figure.Peer] == nil {
			names = append(names, figure.Peer)
		}
		values[figure.Peer] = append(values[figure.Peer], benchfmt.Value{Value: figure.Value, Unit: figure.Unit})
	}
	for _, name := range names {
		if err := b.raw.add("Carry/peer="+name, 1, values[name]...); err != nil {
			return err
		}
	}
	return nil
}
