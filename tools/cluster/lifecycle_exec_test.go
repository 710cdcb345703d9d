//go:build integration

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"strings"
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
