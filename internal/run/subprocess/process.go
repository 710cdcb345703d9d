// Package subprocess starts programs and waits for their output and their end. [Process] is for programs
// that run others, [Program] for tests, which it fails.
package subprocess

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ErrEnded: the process ended too early. ErrKilled: [Process.Stop] had to kill it.
var (
	ErrEnded  = errors.New("the program ended before its work was done")
	ErrKilled = errors.New("the program runs on after SIGTERM")
)

// Process runs, or has run. Its methods may be called at any time, from any goroutine.
type Process struct {
	// Started is when the process was started.
	Started time.Time

	cmd    *exec.Cmd
	output *os.File // nil if the caller has set the command's output
	done   chan struct{}
	// The fields below are set when done is closed.
	err  error
	took time.Duration
}

// Start starts a command. Its output goes to an unlinked file, because reading a pipe would compete with
// the process for the CPUs. If cmd.Stdout or cmd.Stderr is set, the output goes there instead. With
// cmd.SysProcAttr.Setpgid signals go to the process group.
func Start(cmd *exec.Cmd) (*Process, error) {
	p := &Process{cmd: cmd, done: make(chan struct{})}
	if cmd.Stdout == nil && cmd.Stderr == nil {
		file, err := os.CreateTemp("", "output-")
		if err != nil {
			return nil, err
		}
		_ = os.Remove(file.Name())
		p.output, cmd.Stdout, cmd.Stderr = file, file, file
	}
	p.Started = time.Now()
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	go func() {
		p.err = cmd.Wait()
		p.took = time.Since(p.Started)
		close(p.done)
	}()
	return p, nil
}

// PID is the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Ended says how the process has ended, and after which time. It is "" while it runs.
func (p *Process) Ended() string {
	select {
	case <-p.done:
		return fmt.Sprintf("%s after %s", p.cmd.ProcessState, p.took.Round(100*time.Millisecond))
	default:
		return ""
	}
}

// Output is what the process has printed so far, to stdout and stderr.
func (p *Process) Output() string {
	text, _ := p.read(0)
	return string(text)
}

func (p *Process) read(from int64) ([]byte, error) {
	return io.ReadAll(io.NewSectionReader(p.output, from, math.MaxInt64-from))
}

// Prints waits until n matches of the pattern are in what the process has printed since its
// start. No match spans lines. It returns at most 5 ms after that, and an error that is
// [ErrEnded] if the process ends before, or the cause of ctx.
func (p *Process) Prints(ctx context.Context, n int, pattern *regexp.Regexp) error {
	for found, read := 0, 0; ; {
		ended := p.Ended()
		news, err := p.read(int64(read))
		if ended == "" {
			news = news[:bytes.LastIndexByte(news, '\n')+1] // the last line may not be whole
		}
		// Each line is read once: whoever waits must not compete with the process either.
		found, read = found+len(pattern.FindAllIndex(news, -1)), read+len(news)
		switch {
		case found >= n:
			return nil
		case err != nil:
			return err
		case ended != "":
			err = fmt.Errorf("%w (%s)", ErrEnded, ended)
		case ctx.Err() != nil:
			err = context.Cause(ctx)
		}
		if err != nil {
			return fmt.Errorf("%d of %d lines like %q: %w", found, n, pattern, err)
		}
		select {
		case <-p.done:
		case <-ctx.Done():
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// Explain adds the last lines of the output to an error. To nil, and to an error that says
// that the caller gave up, it adds nothing.
func (p *Process) Explain(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	lines := strings.Split(strings.TrimRight(p.Output(), "\n"), "\n")
	return fmt.Errorf("%w; the last lines of %s:\n%s", err, filepath.Base(p.cmd.Path), strings.Join(lines[max(0, len(lines)-15):], "\n"))
}

// Signal sends a signal. It fails if the process has ended.
func (p *Process) Signal(signal syscall.Signal) error { return send(p.cmd, signal) }

// Kill ends the process with SIGKILL and returns when it is gone.
func (p *Process) Kill() {
	_ = p.Signal(syscall.SIGKILL)
	<-p.done
}

// Stop ends the process as a service manager does: SIGTERM, and SIGKILL if that takes too
// long. The process is gone when it returns: nil after exit code 0, otherwise an error that says
// how it ended.
func (p *Process) Stop(patience time.Duration) error {
	early := p.Ended()
	_ = p.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
		if early != "" {
			return fmt.Errorf("%w (%s)", ErrEnded, early)
		}
		return p.err
	case <-time.After(patience):
		p.Kill()
		return fmt.Errorf("%w, for %s", ErrKilled, patience)
	}
}

// Wait waits for an end without a signal, and returns what [exec.Cmd.Wait] does, or the cause
// of ctx.
func (p *Process) Wait(ctx context.Context) error {
	select {
	case <-p.done:
		return p.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Peak is the most memory that a process has held, in bytes: 0 if it has ended. Linux alone says it, in
// proc(5), status.
func Peak(pid int) (bytes uint64) {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, after, _ := strings.Cut(string(status), "\nVmHWM:")
	_, _ = fmt.Sscanf(after, "%d kB", &bytes)
	return bytes * 1024
}

// CPU is the time that the process has computed. On a process that runs, Linux alone says it.
func (p *Process) CPU() (time.Duration, error) {
	if p.Ended() != "" {
		return p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime(), nil
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.PID()))
	if err != nil {
		return 0, err
	}
	// proc(5): the 14th and 15th field, in hundredths of a second. The 2nd is the name in
	// parentheses, with whatever is in it.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	user, err1 := strconv.Atoi(fields[11])
	system, err2 := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond, cmp.Or(err1, err2)
}
