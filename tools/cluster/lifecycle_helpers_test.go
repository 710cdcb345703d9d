//go:build integration

package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// asCommand makes the test binary run as the command: the tests start it as a user does, in a separate process.
const asCommand = "CLUSTER_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		_ = os.Unsetenv(asCommand)
		main()
	}
	// Here, because the time limit of the tests does not include it.
	if err := buildPrograms(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func buildPrograms() error {
	module, err := moduleDir()
	if err != nil {
		return err
	}
	unlock, err := lock(filepath.Join(homeOf(module), "cluster", "state"), os.Stderr)
	if err != nil {
		return err
	}
	defer unlock()
	return ensure(module, homeOf(module), false, os.Stderr)
}

// testCluster is a cluster and a user, with an empty home folder and a kubectl that does not work.
type testCluster struct {
	cluster
	userHome string
	userBin  string
}

// newTestCluster names a cluster, removes it at the end of the test, and checks that the user's home stays
// empty.
func newTestCluster(t *testing.T, word string) *testCluster {
	t.Helper()
	module, err := moduleDir()
	if err != nil {
		t.Fatal(err)
	}
	c := &testCluster{
		cluster:  cluster{module: module, home: homeOf(module), name: fmt.Sprintf("%s%d-%s", testPrefix, os.Getpid(), word)},
		userHome: t.TempDir(),
		userBin:  t.TempDir(),
	}
	writeFile(t, filepath.Join(c.userBin, "kubectl"), "#!/bin/sh\nexit 99\n")
	t.Cleanup(func() {
		c.run(t, "down", "--name", c.name)
		wantNothing(t, c)
		err := filepath.WalkDir(c.userHome, func(path string, _ os.DirEntry, err error) error {
			if path != c.userHome {
				t.Errorf("%s appeared in the user's home", path)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
	return c
}

// command returns the command with the given arguments, run by the user. If it hangs, it is killed, together
// with the programs that it runs in the foreground.
func (c *testCluster) command(t *testing.T, args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Env = append(os.Environ(), asCommand+"=1",
		"HOME="+c.userHome,
		"PATH="+c.userBin+string(os.PathListSeparator)+os.Getenv("PATH"),
		"KUBECONFIG="+filepath.Join(c.userHome, ".kube", "config"))
	return cmd
}

func (c *testCluster) run(t *testing.T, args ...string) string {
	t.Helper()
	out, err := c.command(t, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func (c *testCluster) up(t *testing.T) string {
	t.Helper()
	return c.run(t, "up", "--name", c.name)
}

// query runs kubectl, which must succeed, with the kubeconfig that up prints.
func (c *testCluster) query(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command(c.bin("kubectl"), append(args, "--kubeconfig="+c.kubeconfig())...)
	cmd.Env = append(os.Environ(), "KUBECACHEDIR="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// running returns the process ids of the cluster, one for each program.
func (c *testCluster) running(t *testing.T) map[string]int {
	t.Helper()
	all, err := c.processes()
	if err != nil {
		t.Fatal(err)
	}
	running := map[string]int{}
	for pid, program := range all {
		running[program] = pid
	}
	if len(running) < len(all) {
		t.Errorf("cluster %s runs a program twice: %v", c.name, all)
	}
	return running
}

// wantWhole checks that all programs run, the server serves, and there is a node.
func wantWhole(t *testing.T, c *testCluster) {
	t.Helper()
	want := strings.Split(wholeControlPlane, ",")
	if got := slices.Sorted(maps.Keys(c.running(t))); !slices.Equal(got, want) {
		t.Errorf("cluster %s runs %v, want %v", c.name, got, want)
	}
	if got := c.query(t, "get", "--raw", "/readyz"); got != "ok" {
		t.Errorf("the API server of %s says %q, want ok", c.name, got)
	}
	ready := c.query(t, "get", "nodes", "-o", `jsonpath={.items[*].status.conditions[?(@.type=="Ready")].status}`)
	if ready != "True" {
		t.Errorf("the nodes of %s are ready: %q, want one True", c.name, ready)
	}
}

func wantNothing(t *testing.T, c *testCluster) {
	t.Helper()
	wantProcesses(t, &c.cluster)
	for _, pattern := range []string{c.name + ".*", "cluster/state/" + c.name + ".*", "cluster/state/clusters/" + c.name} {
		if files, err := filepath.Glob(filepath.Join(c.home, pattern)); err != nil || len(files) > 0 {
			t.Errorf("left behind: %v %v", files, err)
		}
	}
}

// sigkill ends processes as a crash does.
func sigkill(t *testing.T, pids map[string]int) {
	t.Helper()
	for program, pid := range pids {
		send(t, pid, syscall.SIGKILL)
		waitFor(t, program+" to end", func() bool { return !alive(pid) })
	}
}

func send(t *testing.T, pid int, signal syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, signal); err != nil {
		t.Fatalf("send %v to process %d: %v", signal, pid, err)
	}
}
