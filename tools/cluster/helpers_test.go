package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// programs are the names of the tools of go.mod.
var programs = []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl", "kwok", "kwokctl"}

// newHome is a folder as this module's, with nothing built and nothing started.
func newHome(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	writeFile(t, filepath.Join(home, "go.mod"), `module example.com/programs

require (
	go.etcd.io/etcd/server/v3 v3.7.0 // indirect
	k8s.io/kubernetes v1.37.1 // indirect
	sigs.k8s.io/kwok v0.8.0 // indirect
)
`)
	writeFile(t, filepath.Join(home, "go.sum"), "")
	return home
}

func writeFile(t *testing.T, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
}

// startProgram starts something that does nothing the way that kwokctl starts a
// program of the cluster: from a link in the cluster's bin folder.
func startProgram(t *testing.T, c *cluster) (pid int) {
	t.Helper()
	return startCommand(t, linkProgram(t, c, "sleep"), "600")
}

// linkProgram makes a sleeping program one of the cluster's, as kwokctl does.
func linkProgram(t *testing.T, c *cluster, name string) (link string) {
	t.Helper()
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	link = filepath.Join(c.dir(), "bin", name)
	if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(sleep, link); err != nil && !os.IsExist(err) {
		t.Fatal(err)
	}
	return link
}

// startCommand starts a command that the end of the test ends.
func startCommand(t *testing.T, name string, args ...string) (pid int) {
	t.Helper()
	cmd := exec.Command(name, args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
	})
	return cmd.Process.Pid
}

func wantProcesses(t *testing.T, c *cluster, want ...int) {
	t.Helper()
	running, err := c.processes()
	if err != nil {
		t.Fatal(err)
	}
	got := slices.Sorted(maps.Keys(running))
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("cluster %s has the processes %v, want %v", c.name, got, want)
	}
}

func waitFor(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); !condition(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited 3 minutes for %s", what)
		}
	}
}

// fakeGo puts a program called go first in PATH. Its build prints the given lines, and fails if one of them is
// not a package's name. calls returns the arguments of its calls.
func fakeGo(t *testing.T, buildLines ...string) (calls func() string) {
	t.Helper()
	dir := t.TempDir()
	log := filepath.Join(dir, "calls")
	writeFile(t, filepath.Join(dir, "lines"), strings.Join(buildLines, "\n")+"\n")
	writeFile(t, filepath.Join(dir, "go"), fmt.Sprintf(`#!/bin/sh
cd %q
echo "$@" >> calls
case "$1 $2" in
"list -deps")
	echo "go: downloading example.com v1" >&2; echo true; echo false; echo true ;;
"list -m") shift 4; for module; do echo v1.37.1; done ;;
"build -v")
	cat lines >&2
	if grep -q ' ' lines; then exit 1; fi
	mkdir -p "$6" && cd "$6" && touch %s ;;
*) exit 64 ;;
esac
`, dir, strings.Replace(strings.Join(programs, " "), "etcd", "server", 1)))
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return func() string {
		content, _ := os.ReadFile(log)
		return string(content)
	}
}
