package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// sleeps is a command that does not end, with a child that does not either. It prints
// which processes they are.
const sleeps = "exec sh -c 'sleep 600 & echo $$ $!; exec sleep 600'"

// asMeanwhile makes the test binary run a command meanwhile and wait to be killed.
const asMeanwhile = "CLUSTER_TEST_MEANWHILE"

func init() {
	if command := os.Getenv(asMeanwhile); command != "" {
		if _, err := meanwhile(command, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		select {}
	}
}

func TestMeanwhile(t *testing.T) {
	said, saying := io.Pipe()
	stop, err := meanwhile("cd / && "+sleeps, saying)
	if err != nil {
		t.Fatal(err)
	}
	var one, two int
	if _, err := fmt.Fscanln(bufio.NewReader(said), &one, &two); err != nil {
		t.Fatal(err)
	}
	if !alive(one) || !alive(two) {
		t.Errorf("of %d and %d, one does not run", one, two)
	}
	stop()
	waitFor(t, "both to end", func() bool { return !alive(one) && !alive(two) })
}

// When stop returns, the command has ended: what comes next may need its port.
func TestMeanwhileStopWaits(t *testing.T) {
	said, saying := io.Pipe()
	file := filepath.Join(t.TempDir(), "ended")
	stop, err := meanwhile("trap 'sleep 0.3; touch "+file+"; exit' TERM; echo ready; while :; do sleep 0.01; done", saying)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(said).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, said) }()
	stop()
	if _, err := os.Stat(file); err != nil {
		t.Errorf("stop returned before the command had ended: %v", err)
	}
}

// The command does not outlive its maker, even one that was killed.
func TestMeanwhileKilled(t *testing.T) {
	maker := exec.Command(os.Args[0])
	maker.Env = append(os.Environ(), asMeanwhile+"="+sleeps)
	said, err := maker.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := maker.Start(); err != nil {
		t.Fatal(err)
	}
	var one, two int
	if _, err := fmt.Fscanln(bufio.NewReader(said), &one, &two); err != nil {
		t.Fatal(err)
	}
	if err := maker.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = maker.Wait()
	waitFor(t, "both to end", func() bool { return !alive(one) && !alive(two) })
}

// up runs the command only while the programs are made.
func TestUpMeanwhile(t *testing.T) {
	t.Setenv("FAKE_WAIT", filepath.Join(t.TempDir(), "started"))
	c := cluster{home: newHome(t), name: "x", meanwhile: `echo running; touch "$FAKE_WAIT"; exec sleep 600`}
	fakeGo(t, "example.com/a", "a.go:1: undefined: x")
	said, saying := io.Pipe()
	go func() {
		err := c.up(saying)
		_ = saying.CloseWithError(fmt.Errorf("up: %w", err))
	}()
	output, err := io.ReadAll(said)
	if err == nil || !strings.Contains(err.Error(), "undefined: x") || !strings.Contains(string(output), "running\n") {
		t.Errorf("error %v, output:\n%s", err, output)
	}

	// Once they are there, nothing runs. That no cluster starts is because they are empty.
	fakeGo(t, "example.com/a")
	if err := ensure(c.home, false, io.Discard); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := c.up(&out); err == nil || strings.Contains(out.String(), "running") {
		t.Errorf("error %v, output:\n%s", err, &out)
	}
}
