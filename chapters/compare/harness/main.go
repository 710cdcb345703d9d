package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"time"

	"example.com/byhand/internal/run/plane"
)

func main() {
	foos := flag.Int("foos", 1000, "how many Foos each cold start has")
	rounds := flag.Int("rounds", 5, "how often each form is measured")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := measure(ctx, *foos, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "harness:", err)
		os.Exit(1)
	}
}

// measure measures each form in each round, and prints the table.
func measure(ctx context.Context, foos, rounds int) (err error) {
	if flag.NArg() > 0 || foos < 1 || rounds < 1 {
		return errors.New("no arguments; -foos and -rounds are at least 1")
	}
	dir, err := os.MkdirTemp("", "byhand-compare-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	cluster, err := plane.Build(ctx, dir)
	if err != nil {
		return err
	}
	names := make([]string, len(forms))
	for i, f := range forms {
		names[i] = f.name
		if err := f.build(ctx, dir); err != nil {
			return fmt.Errorf("build %s: %w", f.name, err)
		}
	}
	runs := make([][]run, len(forms))
	for round := range rounds {
		for i := range forms {
			at := (i + round) % len(forms) // Each form is sometimes first.
			r, err := forms[at].coldStart(ctx, cluster, dir, foos)
			if err != nil {
				return fmt.Errorf("%s, round %d: %w", forms[at].name, round+1, err)
			}
			fmt.Fprintf(os.Stderr, "round %d of %d, %s: %.4g\n", round+1, rounds, forms[at].name, r.figures)
			runs[at] = append(runs[at], r)
		}
	}
	for i := range runs[0] {
		// The last form; sample-controller writes another status.
		if own, other := runs[0][i].outcome, runs[len(forms)-1][i].outcome; own != other {
			return fmt.Errorf("the work is not equal: byhand left\n%s\nand controller-runtime\n%s", own, other)
		}
	}
	fmt.Printf("%s, %d Foos, %d rounds\n\n%s", machine(), foos, rounds, table(names, runs))
	return nil
}

func machine() string {
	commit, err := exec.Command("git", "describe", "--always", "--dirty").Output()
	if err != nil {
		commit = []byte("unknown")
	}
	info, _ := os.ReadFile("/proc/cpuinfo")
	cpu := runtime.GOARCH
	if match := regexp.MustCompile(`model name\s*: (.*)`).FindSubmatch(info); match != nil {
		cpu = string(match[1])
	}
	return fmt.Sprintf("%s, commit %s, %d × %s, %s", time.Now().UTC().Format(time.DateOnly), strings.TrimSpace(string(commit)), runtime.NumCPU(), cpu, runtime.Version())
}
