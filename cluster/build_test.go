package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestFollow(t *testing.T) {
	for _, test := range []struct{ reason, script, want string }{
		{"a build that succeeds may complain", "echo package/a >&2; echo a warning >&2; echo output", ""},
		{"the error holds the complaints", "echo package/a >&2; echo main.go:1: no such thing >&2; echo see above >&2; exit 3", "exit status 3\nmain.go:1: no such thing\nsee above"},
		{"no space", "echo 'link: write /tmp/a.out: no space left on device' >&2; exit 1", errNoSpace.Error()},
		{"no memory", "echo '/usr/lib/go/pkg/tool/linux_amd64/link: signal: killed' >&2; exit 1", errNoMemory.Error()},
		{"no processes", "echo 'fork/exec /usr/lib/go/pkg/tool/linux_amd64/compile: resource temporarily unavailable' >&2; exit 1", errNoProcesses.Error()},
		{"a line without end does not block", "head -c 1000000 /dev/zero >&2", bufio.ErrTooLong.Error()},
	} {
		t.Run(test.reason, func(t *testing.T) {
			said := ""
			if err := follow(exec.Command("sh", "-c", test.script), 0, io.Discard); err != nil {
				said = err.Error()
			}
			if said != test.want {
				t.Errorf("the error %q, want %q", said, test.want)
			}
		})
	}
}

func TestBuild(t *testing.T) {
	home := newHome(t)
	calls := fakeGo(t, "example.com/a", "example.com/b")
	var out bytes.Buffer
	if err := ensure(home, false, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"after 0s: 1 Go modules downloaded", "2 of 2 packages compiled"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, out.String())
		}
	}
	// The server's version is the module's, and etcd has its name.
	if !strings.Contains(calls(), "version.gitVersion=v1.37.1 ") {
		t.Errorf("go build was not told the version:\n%s", calls())
	}
	if _, err := os.Stat(filepath.Join(home, "bin", "etcd")); err != nil {
		t.Error(err)
	}

	t.Run("again, it does nothing", func(t *testing.T) {
		before := calls()
		out.Reset()
		if err := ensure(home, false, &out); err != nil || out.Len() > 0 || calls() != before {
			t.Errorf("got %v, output %q and these calls:\n%s", err, out.String(), calls())
		}
	})
}

// A build that ends half-way leaves the programs that there were, and is not taken for
// done: not even when go.mod is again what they were built from.
func TestBuildInterrupted(t *testing.T) {
	home := newHome(t)
	fakeGo(t, "example.com/a")
	if err := ensure(home, false, io.Discard); err != nil {
		t.Fatal(err)
	}
	old := filepath.Join(home, "bin", "kubectl")
	writeFile(t, old, "old")

	writeFile(t, filepath.Join(home, "go.mod"), "changed")
	for range 2 {
		fakeGo(t, "example.com/a", "a.go:1: undefined: x")
		if err := ensure(home, false, io.Discard); err == nil || !strings.Contains(err.Error(), "a.go:1: undefined: x") {
			t.Errorf("got %v, want what the compiler said", err)
		}
		// What an interrupt leaves.
		writeFile(t, filepath.Join(home, "state", newBin, "kubectl"), "half")
	}
	if content, err := os.ReadFile(old); string(content) != "old" {
		t.Errorf("kubectl is %q (%v), want the one from before", content, err)
	}

	fakeGo(t, "example.com/a")
	if err := ensure(home, false, io.Discard); err != nil {
		t.Fatal(err)
	}
	if content, err := os.ReadFile(old); err != nil || len(content) > 0 {
		t.Errorf("kubectl is %q (%v), want the new one, which is empty", content, err)
	}
	if _, err := os.Stat(filepath.Join(home, "state", newBin)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder of the build is left: %v", err)
	}
}
