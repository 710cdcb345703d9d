package subprocess

import (
	"context"
	"os/exec"
	"regexp"
	"syscall"
	"time"
)

// TB is what [Program] needs of a [testing.TB]. A program that is no test must not link the
// package testing: it brings flags.
type TB interface {
	Helper()
	Cleanup(func())
	Failed() bool
	Fatalf(format string, args ...any)
	Logf(format string, args ...any)
}

// Program is a process of a test. The test fails if the process misses a deadline.
type Program struct {
	*Process
	t        TB
	deadline time.Duration
}

// Run starts a command. A process that still runs when the test ends is killed, and if the test has failed,
// the output is logged. deadline limits each wait.
func Run(t TB, cmd *exec.Cmd, deadline time.Duration) *Program {
	t.Helper()
	process, err := Start(cmd)
	if err != nil {
		t.Fatalf("%v", err)
	}
	t.Cleanup(func() {
		process.Kill()
		if t.Failed() {
			t.Logf("%s printed:\n%s", cmd, process.Output())
		}
	})
	return &Program{process, t, deadline}
}

// WaitFor waits until the program has printed a line with this text.
func (p *Program) WaitFor(text string) {
	p.t.Helper()
	p.Prints(1, regexp.QuoteMeta(text))
}

// Prints waits until n matches of a regular expression are in the lines of the output.
func (p *Program) Prints(n int, pattern string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), p.deadline)
	defer cancel()
	if err := p.Process.Prints(ctx, n, regexp.MustCompile(pattern)); err != nil {
		p.t.Fatalf("the program prints %v", err)
	}
}

// Signal sends a signal to the program, which must run.
func (p *Program) Signal(signal syscall.Signal) {
	p.t.Helper()
	if err := p.Process.Signal(signal); err != nil {
		p.t.Fatalf("%s: %v", signal, err)
	}
}

// Stop is [Process.Stop]. Another exit code than 0 ends the test.
func (p *Program) Stop() {
	p.t.Helper()
	if err := p.Process.Stop(p.deadline); err != nil {
		p.t.Fatalf("after SIGTERM, want exit code 0: %v", err)
	}
}

// Exit waits for the end of the program and returns its exit code, -1 after a signal that
// ended it.
func (p *Program) Exit() int {
	p.t.Helper()
	select {
	case <-p.done:
	case <-time.After(p.deadline):
		p.t.Fatalf("the program does not end")
	}
	return p.cmd.ProcessState.ExitCode()
}
