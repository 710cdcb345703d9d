package main

import (
	"cmp"
	"context"
	"os/exec"
	"strconv"
	"sync/atomic"
	"time"

	"example.com/byhand/compare/peers/liveheap"
	"example.com/byhand/internal/testkit/subprocess"
)

// process is a peer that runs.
type process struct {
	*subprocess.Process
	peak   atomic.Uint64
	ofFile atomic.Uint64
}

// start starts a command. The caller calls stop.
func start(cmd *exec.Cmd) (*process, error) {
	started, err := subprocess.Start(cmd)
	if err != nil {
		return nil, err
	}
	p := &process{Process: started}
	go p.sample()
	return p, nil
}

// sample keeps the peak RSS of a process that may end at any time. The kernel's
// rusage is of no use: it begins with the peak of the process that forked.
func (p *process) sample() {
	for {
		if peak := subprocess.Peak(p.PID()); peak > 0 {
			p.peak.Store(peak)
			p.ofFile.Store(subprocess.OfFile(p.PID()))
		}
		select {
		case <-p.Done():
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// peakRSS returns the most memory that the process has held, in bytes.
func (p *process) peakRSS() uint64 { return cmp.Or(subprocess.Peak(p.PID()), p.peak.Load()) }

// pause waits, as long as the process runs.
func (p *process) pause(ctx context.Context, until <-chan time.Time) error {
	select {
	case <-until:
		return nil
	case <-p.Done():
		return subprocess.ErrEnded
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// quiet waits until the process has computed next to nothing for a second, but at
// most for this long.
func (p *process) quiet(ctx context.Context, atMost time.Duration) error {
	deadline := time.Now().Add(atMost)
	before, err := p.CPU()
	for err == nil && time.Now().Before(deadline) {
		if err := p.pause(ctx, time.After(time.Second)); err != nil {
			return err
		}
		now, failed := p.CPU()
		if failed == nil && now-before <= 30*time.Millisecond {
			return nil
		}
		before, err = now, failed
	}
	return err
}

// liveHeap has the process collect its garbage, and returns how many bytes are left.
func (p *process) liveHeap(ctx context.Context) (bytes float64, err error) {
	if err := p.Signal(liveheap.Signal); err != nil {
		return 0, err
	}
	if err := p.Prints(ctx, 1, liveheap.Line); err != nil {
		return 0, err
	}
	return strconv.ParseFloat(liveheap.Line.FindStringSubmatch(p.Output())[1], 64)
}

// stop ends the process as a service manager does.
func (p *process) stop() { _ = p.Stop(10 * time.Second) }
