package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"example.com/byhand/compare/peers"
	"example.com/byhand/compare/plane"
)

// results is the folder of the page that is kept.
const results = "results"

// options are the flags.
type options struct {
	quick, report  bool
	scenarios, out string
}

func main() {
	var o options
	flag.BoolVar(&o.quick, "quick", false, "small numbers, to see that everything works; no page is worth making of them")
	flag.BoolVar(&o.report, "report", false, "measure nothing, make the page anew from raw.txt")
	flag.StringVar(&o.scenarios, "scenarios", "", "`regexp`: only steps whose line matches, as in Backlog or 'ColdStart: 5000 Foos, byhand,'")
	flag.StringVar(&o.out, "out", "", "`folder` of raw.txt and the page (default: results if all is measured, else a new one)")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := execute(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "harness:", err)
		os.Exit(1)
	}
}

// execute measures what the flags ask for and makes the page of it.
func execute(ctx context.Context, o options) (err error) {
	if o.report {
		return writePage(cmp.Or(o.out, results))
	}
	wanted, err := regexp.Compile(o.scenarios)
	if err != nil {
		return fmt.Errorf("-scenarios: %w", err)
	}
	b := &bench{plan: full(), peers: peers.All(), began: time.Now()}
	if o.quick {
		b.plan = quick()
	}
	steps := b.steps(wanted)
	if len(steps) == 0 {
		return errors.New("nothing to do: no step matches -scenarios")
	}
	// What shows only a part does not replace what shows all.
	switch {
	case o.out != "":
		err = os.MkdirAll(o.out, 0o755)
	case o.quick || o.scenarios != "":
		o.out, err = os.MkdirTemp("", "byhand-results-")
	default:
		o.out = results
	}
	if err != nil {
		return err
	}
	if b.dir, err = os.MkdirTemp("", "byhand-compare-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	if err := b.prepare(ctx, o.out); err != nil {
		return err
	}
	if err := errors.Join(b.run(ctx, steps), b.raw.close()); err != nil {
		return err
	}
	if err := writePage(o.out); err != nil {
		b.problem(err)
	} else {
		b.say("written: %s", filepath.Join(o.out, pageFile))
	}
	return errors.Join(b.problems...)
}

// prepare builds all programs and begins the file of measurements.
func (b *bench) prepare(ctx context.Context, out string) (err error) {
	b.say("building the programs")
	if err := peers.Build(ctx, b.dir, b.peers...); err != nil {
		return err
	}
	if b.cluster, err = plane.Build(ctx, b.dir); err != nil {
		return err
	}
	about, err := aboutMachine(strings.Join(append([]string{"go run ./harness"}, os.Args[1:]...), " "))
	if err != nil {
		return err
	}
	b.raw, err = openRaw(filepath.Join(out, rawFile), about)
	return err
}
