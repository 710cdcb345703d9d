package main

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// A process that has ended is not alive, though its parent has not waited for it.
func TestAlive(t *testing.T) {
	cmd := exec.Command("true")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if !alive(os.Getpid()) {
		t.Error("this process is not alive")
	}
	if runtime.GOOS == "linux" { // only /proc tells a zombie
		waitFor(t, "true to end", func() bool { return !alive(cmd.Process.Pid) })
	}
	if err := cmd.Wait(); err != nil || alive(cmd.Process.Pid) {
		t.Errorf("a process that is gone: %v", err)
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
	// A program reads a file of x.
	startCommand(t, "tail", "-f", filepath.Join(x.dir(), "bin", "sleep"))

	wantProcesses(t, &x, inX...)
	wantProcesses(t, &y, inY)
	wantProcesses(t, &cluster{home: home, name: "z"})
}

// One process at a time has the lock. One that has to wait for a build says so, in one line.
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
		t.Fatal("it does not wait")
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
