package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"

	"golang.org/x/perf/benchfmt"

	"example.com/byhand/compare/carry"
	"example.com/byhand/compare/peers"
)

// goBenchmarks runs the Go benchmarks of the module and keeps their output as it is.
// Each round is a process of its own, so that what is compared takes turns.
func (b *bench) goBenchmarks(ctx context.Context) error {
	program := filepath.Join(b.dir, "benchmarks.test")
	if _, err := peers.Go(ctx, "test", "-c", "-o", program, "."); err != nil {
		return err
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
	figures, err := carry.Measure(ctx)
	if err != nil {
		return err
	}
	for _, figure := range figures {
		if err := b.raw.add("Carry/peer="+figure.Peer, 1, benchfmt.Value{Value: figure.Value, Unit: figure.Unit}); err != nil {
			return err
		}
	}
	return nil
}
