//go:build integration

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// exec gives the command the cluster's own kubectl, and has its exit code.
func TestExec(t *testing.T) {
	t.Parallel()
	c := newTestCluster(t, "exec")
	cmd := c.command(t, "exec", "--components", "etcd,kube-apiserver", "--", "sh", "-c", "kubectl get --raw /readyz && echo \" $KUBECONFIG\"; exit 7")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	var exited *exec.ExitError
	if err := cmd.Run(); !errors.As(err, &exited) || exited.ExitCode() != 7 {
		t.Errorf("got %v, want exit status 7:\n%s", err, stderr.String())
	}
	c.name = fmt.Sprint(testPrefix, cmd.Process.Pid)
	wantNothing(t, c)
	if want := "ok " + c.kubeconfig() + "\n"; stdout.String() != want {
		t.Errorf("standard output is %q, want %q", stdout.String(), want)
	}
	if !strings.Contains(stderr.String(), "is removed") {
		t.Errorf("standard error does not say that the cluster is removed:\n%s", stderr.String())
	}
}

func TestExecInterrupted(t *testing.T) {
	t.Parallel()
	c := newTestCluster(t, "exec")
	cmd := c.command(t, "exec", "--components", "etcd,kube-apiserver", "--", "sh", "-c", "echo $$; exec sleep 600")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c.name = fmt.Sprint(testPrefix, cmd.Process.Pid)
	var child int
	if _, err := fmt.Fscanln(bufio.NewReader(stdout), &child); err != nil {
		t.Fatal(err)
	}
	if running, err := c.processes(); err != nil || len(running) != 2 {
		t.Errorf("while the command runs: processes %v, %v; want 2", running, err)
	}

	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	var exited *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exited) || exited.ExitCode() != 1 {
		t.Errorf("got %v, want exit status 1", err)
	}
	wantNothing(t, c)
	if alive(child) {
		t.Errorf("the command, process %d, is alive", child)
	}
}
