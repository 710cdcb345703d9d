package main

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/sync/errgroup"

	"example.com/byhand/internal/testkit/plane"
)

// bench is one execution of the harness.
type bench struct {
	cluster plane.Command
	plan    plan
	about   []benchfmt.Config
	// dir holds the programs.
	dir   string
	began time.Time

	mu       sync.Mutex
	raw      *benchfmt.Writer
	problems []error
}

// say writes a line to stderr.
func (b *bench) say(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	fmt.Fprintf(os.Stderr, "%6.0fs  %s\n", time.Since(b.began).Seconds(), fmt.Sprintf(format, args...))
}

// problem notes what makes the command fail when all is done.
func (b *bench) problem(err error) {
	b.say("PROBLEM: %v", err)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.problems = append(b.problems, err)
}

// run takes the steps. What goes wrong in one of them is noted and does not keep the
// others from running; only the end of ctx does.
func (b *bench) run(ctx context.Context, steps []step) error {
	var running errgroup.Group
	running.SetLimit(b.plan.atOnce)
	for i, step := range steps {
		running.Go(func() error {
			b.say("%d/%d: %s", i+1, len(steps), step.what)
			if err := step.do(ctx); err != nil && ctx.Err() == nil {
				b.problem(fmt.Errorf("%s: %w", step.what, err))
			}
			return context.Cause(ctx)
		})
	}
	return running.Wait()
}
