package main

import (
	"errors"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"example.com/byhand/internal/testkit/subprocess"
)

// The peak of a process is known in bytes, while it runs and when it has ended.
func TestProcess(t *testing.T) {
	p, err := start(exec.Command("sh", "-c", "while sleep 1; do :; done"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	const least = 1 << 16
	for end := time.Now().Add(time.Minute); runtime.GOOS == "linux" && p.peak.Load() < least; {
		if err := p.pause(t.Context(), time.After(10*time.Millisecond)); err != nil || time.Now().After(end) {
			t.Fatalf("the last sample is %d, %v", p.peak.Load(), err)
		}
	}
	during := p.peakRSS()
	p.stop()
	if after := p.peakRSS(); runtime.GOOS == "linux" && (during < least || during > 1<<30 || after < least || after > during) {
		t.Errorf("the peak is %d, and %d after the end", during, after)
	}
	if err := p.pause(t.Context(), nil); !errors.Is(err, subprocess.ErrEnded) {
		t.Errorf("after the end: %v", err)
	}
}
