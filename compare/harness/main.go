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

	"golang.org/x/perf/benchfmt"

	"example.com/byhand/compare/peers"
	"example.com/byhand/internal/testkit/plane"
)

// results is the folder of the page that is kept.
const results = "results"

func main() {
	var o options
	flag.BoolVar(&o.quick, "quick", false, "small numbers, to see that everything works; no page is worth making of them")
	flag.BoolVar(&o.report, "report", false, "measure nothing, make the page anew from raw.txt")
	flag.StringVar(&o.scenarios, "scenarios", "", "`regexp`: only steps whose line matches, as in Backlog or 'CacheSync: 10000 '")
	flag.StringVar(&o.out, "out", "", "`folder` of raw.txt and the page (default: results if all is measured, else a new one)")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := execute(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "harness:", err)
		os.Exit(1)
	}
}

type options struct {
	quick, report  bool
	scenarios, out string
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
	b := &bench{plan: full(), began: time.Now(), about: aboutMachine(strings.Join(append([]string{"go run ./harness"}, os.Args[1:]...), " "))}
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
	b.say("building the programs")
	if err := peers.Build(ctx, b.dir, peers.All()...); err != nil {
		return err
	}
	if b.cluster, err = plane.Build(ctx, b.dir); err != nil {
		return err
	}
	// Sessions are pooled: each adds its lines.
	file, err := os.OpenFile(filepath.Join(o.out, rawFile), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	b.raw = benchfmt.NewWriter(file)
	if err := errors.Join(b.run(ctx, steps), file.Close()); err != nil {
		return err
	}
	b.say("the page: %s", filepath.Join(o.out, pageFile))
	return errors.Join(append(b.problems, writePage(o.out))...)
}
