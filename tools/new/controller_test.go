package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const repository = "../.."

// newFolder runs what `make new DIR=dir` runs, with more variables such as KIND=Ticket.
func newFolder(t *testing.T, variables ...string) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "my own", "desk")
	if _, err := beginWith("new", append(variables, "DIR="+dir)...); err != nil {
		t.Fatal(err)
	}
	return dir
}

func beginWith(what string, variables ...string) (message string, err error) {
	return begin(repository, what, func(name string) string {
		for _, variable := range variables {
			if value, isIt := strings.CutPrefix(variable, name+"="); isIt {
				return value
			}
		}
		return ""
	})
}

// call runs a command in a folder, without the network.
func call(dir string, name string, args ...string) (output string, err error) {
	run := exec.Command(name, args...)
	run.Dir = dir
	run.Env = append(os.Environ(), "GOFLAGS=-mod=readonly", "GOPROXY=off", "GOWORK=off")
	text, err := run.CombinedOutput()
	return string(text), err
}

func newTicket(t *testing.T) (dir string) {
	t.Helper()
	return newFolder(t, "KIND=Ticket", "GROUP=desk.example.com", "VERSION=v1", "MODULE=example.com/desk")
}

// With COPY=1 the folder needs only modules from a module proxy.
func TestCopy(t *testing.T) {
	t.Parallel()
	dir := newFolder(t, "COPY=1")
	moved := filepath.Join(t.TempDir(), "moved")
	if err := os.Rename(dir, moved); err != nil {
		t.Fatal(err)
	}
	if output, err := call(moved, "make", "test"); err != nil {
		t.Errorf("%v: %s", err, output)
	}
	if at, err := call(moved, "go", "list", "-m", "-f", "{{.Replace}}", byhand); err != nil || at != "./byhand\n" {
		t.Errorf("byhand is at %s (%v), want ./byhand", at, err)
	}
	packages := map[string]bool{}
	err := fs.WalkDir(os.DirFS(moved), "byhand", func(path string, _ fs.DirEntry, err error) error {
		if filepath.Ext(path) == ".go" {
			packages[filepath.Dir(path)] = true
		}
		return err
	})
	if err != nil || len(packages) > 14 {
		t.Errorf("%d packages are copied, want 14 at most: %v (%v)", len(packages), packages, err)
	}
}

func TestSize(t *testing.T) {
	files, lines := 0, 0
	for _, pattern := range []string{"*.go", "config/*.yaml"} {
		found, err := filepath.Glob(filepath.Join("controller", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range found {
			files, lines = files+1, lines+strings.Count(contents(t, file), "\n")
		}
	}
	if files < 9 || files > 12 || lines > 750 {
		t.Errorf("it has %d files and %d lines of Go and YAML, want 12 and 750 at most", files, lines)
	}
}

// A wrong name is rejected in one line, and nothing is written.
func TestNames(t *testing.T) {
	for _, test := range []struct{ name, says string }{
		{"KIND=ticket", "KIND=ticket: it must be like Ticket"},
		{"KIND=Help-Desk", "it must be like Ticket"},
		{"KIND=Client", "the program uses Client for something else. Choose another KIND"},
		{"KIND=ConfigMap", "for something else"},
		{"PLURAL=Tickets", "PLURAL=Tickets: it must be like tickets"},
		{"PLURAL=my-things", "PLURAL=my-things: it must be like tickets"},
		{"GROUP=desk", "GROUP=desk: it must be like desk.example.com"},
		{"GROUP=Desk.example.com", "it must be like desk.example.com"},
		{"GROUP=desk.k8s.io", "is reserved for Kubernetes"},
		{"VERSION=1", "VERSION=1: it must be like v1"},
		{"MODULE=example.com/my desk", "it must be like example.com/desk"},
		{"MODULE=example.com/byhand", "is this repository's"},
	} {
		dir := filepath.Join(t.TempDir(), "desk")
		if _, err := beginWith("new", test.name, "DIR="+dir); err == nil || !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("make new %s: error %v, want one line with: %s", test.name, err, test.says)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("make new %s writes %s", test.name, dir)
		}
	}
}
