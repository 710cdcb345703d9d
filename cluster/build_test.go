package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestFollow(t *testing.T) {
	for _, test := range []struct {
		reason   string
		command  []string
		expected int
		want     string
	}{
		{"a command that succeeds may complain", shell("echo package a >&2; echo a warning >&2; echo package b >&2; echo package c"), 2, ""},
		{"the error holds the unexpected lines", shell("echo package a >&2; echo main.go:1: no such thing >&2; echo see above >&2; exit 3"), 1, "exit status 3\nmain.go:1: no such thing\nsee above"},
		{"no space", shell("echo 'link: write /tmp/a.out: no space left on device' >&2; exit 1"), 0, errNoSpace.Error()},
		{"no memory", shell("echo '/usr/lib/go/pkg/tool/linux_amd64/link: signal: killed' >&2; exit 1"), 0, errNoMemory.Error()},
		{"no processes", shell("echo 'fork/exec /usr/lib/go/pkg/tool/linux_amd64/compile: resource temporarily unavailable' >&2; exit 1"), 0, errNoProcesses.Error()},
		{"a program that is not there", []string{"/no/such/go"}, 0, "fork/exec /no/such/go: no such file or directory"},
		{"a line without end does not block", shell("head -c 1000000 /dev/zero >&2"), 0, bufio.ErrTooLong.Error()},
	} {
		t.Run(test.reason, func(t *testing.T) {
			expected, said := 0, ""
			err := follow(exec.Command(test.command[0], test.command[1:]...), func(line string) bool {
				known := strings.HasPrefix(line, "package ")
				if known {
					expected++
				}
				return known
			})
			if err != nil {
				said = err.Error()
			}
			if expected != test.expected || said != test.want {
				t.Errorf("%d expected lines on standard error and the error %q, want %d and %q", expected, said, test.expected, test.want)
			}
		})
	}
}

func shell(script string) []string { return []string{"sh", "-c", script} }

// A disk that is too small is told before minutes are spent, also of a folder that is still to
// be made.
func TestTooSmall(t *testing.T) {
	free := func(folder string) uint64 { return map[string]uint64{"/large": 10 << 30, "/small": 3 << 29}[folder] }
	if got, want := tooSmall([]string{"/large", "/small"}, free), "/small has only 1.5 GiB left: "+moreSpace+"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := tooSmall([]string{"/large"}, free); got != "" {
		t.Errorf("got %q, want nothing", got)
	}
	if freeSpace(filepath.Join(t.TempDir(), "not", "there", "yet")) == 0 {
		t.Error("no space is free where this test writes")
	}
}

// The build makes what go.mod, in the folder of this module, names as tools.
func TestPrograms(t *testing.T) {
	home, err := moduleDir()
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(home, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	var tools []string
	// Of all that go.mod lists a tool alone has no version.
	for _, tool := range regexp.MustCompile(`(?m)^\t(\S+)$`).FindAllStringSubmatch(string(content), -1) {
		tools = append(tools, strings.Replace(path.Base(tool[1]), "v3", "etcd", 1)) // of go.etcd.io/etcd/server/v3
	}
	if !slices.Equal(tools, programs) {
		t.Errorf("go.mod names %v, the build expects %v", tools, programs)
	}
}

func TestBuild(t *testing.T) {
	home := newHome(t)
	calls := fakeGo(t, "example.com/a", "example.com/b")
	var out bytes.Buffer
	if err := ensure(home, false, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Building a Kubernetes control plane from source, once.",
		"downloading Go modules: 1 so far",
		"2 packages to compile (of 3), 7 programs to link",
		"compiled 2 of 2 packages, 0s\n",
		"built in ",
	} {
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
	t.Run("again, it builds a program that is missing", func(t *testing.T) {
		kubectl := filepath.Join(home, "bin", "kubectl")
		if err := errors.Join(os.Remove(kubectl), ensure(home, false, &out)); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(kubectl); err != nil {
			t.Error(err)
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
