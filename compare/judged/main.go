// Command judged puts the programs of the comparison through the judge, one after the other, and
// makes the page of what it says: results/judge.md.
//
//	go run ./judged [flags of the judge]        in the folder compare
//
// The caveats are played, too (-caveats).
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"

	"example.com/byhand/compare/peers"
	"example.com/byhand/internal/testkit/plane"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "judged:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, flags []string) (err error) {
	root, err := plane.Root()
	if err != nil {
		return err
	}
	results := filepath.Join(root, "compare", "results")
	dir, err := os.MkdirTemp("", "byhand-judged-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	// The verdicts say which commit their judge is of, whatever GOFLAGS says.
	judge := filepath.Join(dir, "judge")
	if _, err := plane.Go(ctx, "build", "-C", root, "-buildvcs=auto", "-o", judge, "./judge"); err != nil {
		return err
	}
	for _, p := range peers.All() {
		switch p.Name {
		case "sample-controller", "sample-controller-tuned", "controller-runtime", "byhand":
		default:
			continue
		}
		if err := peers.Build(ctx, dir, p); err != nil {
			return err
		}
		command := p.Command(ctx, "", "{kubeconfig}").Args
		command[0] = "./" + command[0]
		args := append(append([]string{"-caveats"}, flags...), "-json", filepath.Join(results, "judge", p.Name+".json"), "--")
		args = append(args, command...)
		err := execute(ctx, dir, judge, args...)
		// Up to 100 is the number of scenarios in which the program falls short.
		if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || exit.ExitCode() < 1 || exit.ExitCode() > 100) {
			return err
		}
	}
	return execute(ctx, dir, judge, "-page", results)
}

func execute(ctx context.Context, dir, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, os.Stdout, os.Stderr
	return cmd.Run()
}
