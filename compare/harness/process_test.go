package main

import (
	"errors"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestStatusField(t *testing.T) {
	content := "Name:\tbyhand\nVmHWM:\t   45312 kB\nVmRSS:\t   40000 kB\nThreads:\t9\n"
	if got, err := statusField(content, "VmHWM"); err != nil || got != 45312<<10 {
		t.Errorf("VmHWM: %d, %v", got, err)
	}
	if got, err := statusField(content, "VmSwap"); err == nil {
		t.Errorf("a field that is not there: %d", got)
	}
}

func TestStatCPU(t *testing.T) {
	// Between the brackets is the command, whatever it is called.
	content := "4711 (by) hand 1) S 1 2 3 4 5 6 7 8 9 10 123 45 0 0 20 0 9 0 100 1 2 3\n"
	if got, err := statCPU([]byte(content)); err != nil || got != 1680*time.Millisecond {
		t.Errorf("%v, %v; want 1.68 s", got, err)
	}
	if got, err := statCPU([]byte("4711 (x) S 1")); err == nil {
		t.Errorf("a line that is too short: %v", got)
	}
}

// A process is followed until it ends, however it ends.
func TestProcess(t *testing.T) {
	run := func(script string) *process {
		p, err := start(exec.Command("sh", "-c", script), "script", filepath.Join(t.TempDir(), "output"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.stop)
		return p
	}

	p := run("echo first; echo Starting workers; exec sleep 60")
	if at, err := p.says(t.Context(), regexp.MustCompile("Starting workers")); err != nil || at.Before(p.started) {
		t.Errorf("says: %v, %v", at, err)
	}
	if runtime.GOOS == "linux" {
		if rss, err := p.rss(); err != nil || rss <= 0 || p.peakRSS() < rss {
			t.Errorf("RSS %d, %v, peak %d", rss, err, p.peakRSS())
		}
	}
	p.stop()
	if _, err := p.wholeCPU(t.Context()); err == nil {
		t.Error("a process that was ended by a signal has ended well")
	}
	if cpu, err := run("exit 0").wholeCPU(t.Context()); err != nil || cpu <= 0 {
		t.Errorf("a process that ends well: %v, %v", cpu, err)
	}

	p = run("echo no kubeconfig; exit 1")
	_, err := p.says(t.Context(), regexp.MustCompile("Starting workers"))
	if !errors.Is(err, errStopped) || !strings.Contains(p.explain(err).Error(), "no kubeconfig") {
		t.Errorf("a process that ends too early: %v", p.explain(err))
	}
}
