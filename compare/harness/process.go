package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
)

// process is a peer that runs. It prints to a file: reading a pipe would compete
// with it for the CPUs.
type process struct {
	cmd     *exec.Cmd
	name    string
	output  string // the file
	started time.Time
	// done is closed when it has ended; then err is what cmd.Wait returned.
	done chan struct{}
	err  error
	peak atomic.Uint64
}

// start starts a command. The caller calls stop.
func start(cmd *exec.Cmd, name, output string) (*process, error) {
	file, err := os.Create(output)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	cmd.Stdout, cmd.Stderr = file, file
	p := &process{cmd: cmd, name: name, output: output, started: time.Now(), done: make(chan struct{})}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	go p.sample()
	return p, nil
}

// sample keeps the peak RSS of a process that may end at any time. The kernel's
// rusage is of no use: it begins with the peak of the process that forked.
func (p *process) sample() {
	for {
		if status, err := p.status(); err == nil && status.VmHWM > 0 {
			p.peak.Store(status.VmHWM)
		}
		select {
		case <-p.done:
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// status is what the kernel says about the process, its memory in bytes.
func (p *process) status() (procfs.ProcStatus, error) {
	proc, err := procfs.NewProc(p.cmd.Process.Pid)
	if err != nil {
		return procfs.ProcStatus{}, err
	}
	return proc.NewStatus()
}

// peakRSS returns the most memory that the process has held, in bytes.
func (p *process) peakRSS() uint64 {
	if status, err := p.status(); err == nil && status.VmHWM > 0 {
		return status.VmHWM
	}
	return p.peak.Load()
}

// cpu returns the time that the process has computed.
func (p *process) cpu() (time.Duration, error) {
	select {
	case <-p.done:
		return p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime(), nil
	default:
	}
	proc, err := procfs.NewProc(p.cmd.Process.Pid)
	if err != nil {
		return 0, err
	}
	stat, err := proc.Stat()
	return time.Duration(stat.CPUTime() * float64(time.Second)), err
}

// pause waits, as long as the process runs.
func (p *process) pause(ctx context.Context, until <-chan time.Time) error {
	select {
	case <-until:
		return nil
	case <-p.done:
		return errStopped
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// quiet waits until the process has computed next to nothing for a second, but at
// most for this long.
func (p *process) quiet(ctx context.Context, atMost time.Duration) error {
	deadline := time.Now().Add(atMost)
	before, err := p.cpu()
	for err == nil && time.Now().Before(deadline) {
		if err := p.pause(ctx, time.After(time.Second)); err != nil {
			return err
		}
		now, failed := p.cpu()
		if failed == nil && now-before <= 30*time.Millisecond {
			return nil
		}
		before, err = now, failed
	}
	return err
}

// says waits until the process has printed what the pattern matches and returns
// when that was, to within 5 ms.
func (p *process) says(ctx context.Context, pattern *regexp.Regexp) (time.Time, error) {
	file, err := os.Open(p.output)
	if err != nil {
		return time.Time{}, err
	}
	defer file.Close()
	var text bytes.Buffer
	for {
		if n, err := text.ReadFrom(file); err != nil {
			return time.Time{}, err
		} else if n > 0 && pattern.Match(text.Bytes()) {
			return time.Now(), nil
		}
		if err := p.pause(ctx, time.After(5*time.Millisecond)); err != nil {
			return time.Time{}, fmt.Errorf("%s does not print %q: %w", p.name, pattern, err)
		}
	}
}

// stop ends the process as a service manager does, and kills it if that takes
// longer than ten seconds.
func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(10 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.done
	}
}

// ends waits for a process that ends without a signal, and returns its error.
func (p *process) ends(ctx context.Context) error {
	select {
	case <-p.done:
		return p.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// explain adds the last lines of the output to an error.
func (p *process) explain(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	content, _ := os.ReadFile(p.output)
	lines := strings.Split(strings.TrimRight(string(content), "\n"), "\n")
	return fmt.Errorf("%w; the last lines of %s:\n%s", err, p.name, strings.Join(lines[max(0, len(lines)-15):], "\n"))
}
