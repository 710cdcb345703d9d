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

func TestExec(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name     string
		command  []string
		wantCode int
		wantOut  string // KUBECONFIG stands for its path
		wantErr  string
	}{
		{"a command that fails, with the cluster's own kubectl", []string{"sh", "-c", "kubectl get --raw /readyz && echo \" $KUBECONFIG\"; exit 7"}, 7, "ok KUBECONFIG\n", "is removed"},
		{"no such command", []string{"no-such-command"}, 1, "", `"no-such-command": executable file not found`},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newTestCluster(t, "exec")
			cmd := c.command(t, append([]string{"exec", "--components", "etcd,kube-apiserver", "--"}, test.command...)...)
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			var exited *exec.ExitError
			if err := cmd.Run(); err != nil && !errors.As(err, &exited) {
				t.Fatal(err)
			}

			c.name = fmt.Sprint(testPrefix, cmd.Process.Pid)
			wantNothing(t, c)
			if code := cmd.ProcessState.ExitCode(); code != test.wantCode {
				t.Errorf("exit code %d, want %d:\n%s", code, test.wantCode, stderr.String())
			}
			if want := strings.ReplaceAll(test.wantOut, "KUBECONFIG", c.kubeconfig()); stdout.String() != want {
				t.Errorf("standard output is %q, want %q", stdout.String(), want)
			}
			if !strings.Contains(stderr.String(), test.wantErr) {
				t.Errorf("standard error lacks %q:\n%s", test.wantErr, stderr.String())
			}
		})
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
