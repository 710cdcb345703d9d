package main

import (
	"errors"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

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

	p := run("echo first; echo Starting workers; while sleep 1; do :; done")
	if at, err := p.says(t.Context(), regexp.MustCompile("Starting workers")); err != nil || at.Before(p.started) {
		t.Errorf("says: %v, %v", at, err)
	}
	if runtime.GOOS == "linux" {
		status, err := p.status()
		if peak := p.peakRSS(); err != nil || status.VmRSS < 1<<16 || peak < status.VmRSS || peak > 1<<30 {
			t.Errorf("RSS %d, %v, peak %d; want bytes", status.VmRSS, err, peak)
		}
	}
	p.stop()
	if err := p.ends(t.Context()); err == nil {
		t.Error("a process that was ended by a signal has ended well")
	}
	p = run("exit 0")
	if err := p.ends(t.Context()); err != nil {
		t.Errorf("a process that ends well: %v", err)
	}
	if cpu, err := p.cpu(); err != nil || cpu <= 0 {
		t.Errorf("its time: %v, %v", cpu, err)
	}

	p = run("echo no kubeconfig; exit 1")
	_, err := p.says(t.Context(), regexp.MustCompile("Starting workers"))
	if !errors.Is(err, errStopped) || !strings.Contains(p.explain(err).Error(), "no kubeconfig") {
		t.Errorf("a process that ends too early: %v", p.explain(err))
	}
}
