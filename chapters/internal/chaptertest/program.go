package chaptertest

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// Program is the running program of the chapter.
type Program struct {
	*testing.T
	cmd  *exec.Cmd
	done chan struct{}
	err  error

	mu  sync.Mutex
	out bytes.Buffer
}

// Start runs the chapter's program. It is killed when the test ends, if it still runs.
func (c *Cluster) Start(args ...string) *Program {
	c.Helper()
	return Start(c.T, args...)
}

// Start is Cluster.Start for a test without a cluster.
func Start(t *testing.T, args ...string) *Program {
	t.Helper()
	p := &Program{T: t, cmd: exec.Command(binary, args...), done: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = p, p
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	t.Cleanup(func() {
		p.Kill()
		if t.Failed() {
			t.Logf("the program's output:\n%s", p.Output())
		}
	})
	return p
}

// Binary is the chapter's program, for the commands of a README that run it.
func Binary() string { return binary }

// Write collects what the program prints.
func (p *Program) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.Write(b)
}

// Output is what the program has printed so far, to stdout and stderr.
func (p *Program) Output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.String()
}

// Prints waits until n matches of a regular expression are in the output.
func (p *Program) Prints(n int, pattern string) {
	p.Helper()
	expression := regexp.MustCompile(pattern)
	for end := time.Now().Add(deadline); ; time.Sleep(10 * time.Millisecond) {
		ended := p.HasEnded()
		found := len(expression.FindAllString(p.Output(), n))
		switch {
		case found == n:
			return
		case ended:
			p.Fatalf("the program has ended (%v) and printed %d of %d lines like %q", p.err, found, n, pattern)
		case time.Now().After(end):
			p.Fatalf("the program prints %d of %d lines like %q", found, n, pattern)
		}
	}
}

// Signal sends a signal.
func (p *Program) Signal(signal os.Signal) {
	p.Helper()
	if err := p.cmd.Process.Signal(signal); err != nil {
		p.Fatal(err)
	}
}

// Kill ends the process with SIGKILL and returns when it is gone. It may be called at any
// time, from any goroutine.
func (p *Program) Kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

// HasEnded reports whether the process is gone.
func (p *Program) HasEnded() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// Exit waits for the end of the program and returns its exit code, -1 after a SIGKILL.
func (p *Program) Exit() int {
	p.Helper()
	select {
	case <-p.done:
	case <-time.After(deadline):
		p.Fatal("the program does not end")
	}
	var exited *exec.ExitError
	if p.err != nil && !errors.As(p.err, &exited) {
		p.Fatal(p.err)
	}
	return p.cmd.ProcessState.ExitCode()
}

// Mistakes starts the program with each of these arguments: it must end with exit code 1 and
// one line, which begins with its name and says this.
func Mistakes(t *testing.T, says map[string][]string) {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Base(dir)
	for want, args := range says {
		p := Start(t, args...)
		if code := p.Exit(); code != 1 {
			t.Errorf("%q: exit code %d, want 1", args, code)
		}
		output := strings.TrimSpace(p.Output())
		if strings.Contains(output, "\n") || !strings.HasPrefix(output, name+": ") || !strings.Contains(output, want) {
			t.Errorf("%q: want one line that begins with %s: and says %q, got\n%s", args, name, want, output)
		}
	}
}
