package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

func TestAlive(t *testing.T) {
	if !alive(os.Getpid()) {
		t.Error("this process is not alive")
	}

	cmd := exec.Command("true")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := cmd.Process.Pid
	t.Run("not a zombie", func(t *testing.T) {
		if _, err := os.Stat("/proc/self/stat"); err != nil {
			t.Skip("only /proc tells a zombie")
		}
		waitFor(t, "true to end", func() bool { return !alive(pid) })
		if err := syscall.Kill(pid, 0); err != nil {
			t.Errorf("the process is not a zombie any more: %v", err)
		}
	})
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if alive(pid) {
		t.Error("a process that is gone is alive")
	}
}

func TestProcesses(t *testing.T) {
	home := t.TempDir()
	x := cluster{home: home, name: "x"}
	y := cluster{home: home, name: "y"}
	other := cluster{home: t.TempDir(), name: "x"}
	inX := []int{startProgram(t, &x), startProgram(t, &x)}
	inY := startProgram(t, &y)
	startProgram(t, &cluster{home: home, name: "x-2"})
	startProgram(t, &other)
	// Somebody reads a file of x.
	startCommand(t, "tail", "-f", filepath.Join(x.dir(), "bin", "sleep"))

	wantProcesses(t, &x, inX...)
	wantProcesses(t, &y, inY)
	wantProcesses(t, &cluster{home: home, name: "z"})
}

// A process is gone when kill returns, not some time later; one that has ended by itself is
// no error.
func TestKill(t *testing.T) {
	running := map[int]string{startCommand(t, "sleep", "600"): "sleep"}
	for range 2 {
		if err := kill(running); err != nil {
			t.Fatal(err)
		}
		for pid := range running {
			if alive(pid) {
				t.Errorf("process %d is alive after kill", pid)
			}
		}
	}
}

func TestLock(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	unlock, err := lock(dir, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(filepath.Join(dir, "lock"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })

	try := func() error { return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }
	if err := try(); !errors.Is(err, syscall.EWOULDBLOCK) {
		t.Errorf("a second lock beside the first: got %v, want %v", err, syscall.EWOULDBLOCK)
	}
	unlock()
	if err := try(); err != nil {
		t.Errorf("a lock after unlock: %v", err)
	}
}

// Who has to wait for a build is told, in one line, and waits.
func TestLockDuringBuild(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	unlock, err := lock(dir, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, newBin, "etcd"), "half")
	said, saying := io.Pipe()
	locked := make(chan error, 1)
	go func() {
		unlock, err := lock(dir, saying)
		if err == nil {
			unlock()
		}
		_ = saying.Close()
		locked <- err
	}()
	lines := bufio.NewScanner(said)
	if !lines.Scan() || lines.Text() != "another process is making the programs: waiting until it is done" {
		t.Errorf("it says %q", lines.Text())
	}
	select {
	case <-locked:
		t.Error("it does not wait")
	default:
	}
	unlock()
	if lines.Scan() {
		t.Errorf("it also says %q", lines.Text())
	}
	if err := <-locked; err != nil {
		t.Error(err)
	}
}
