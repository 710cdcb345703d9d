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
	"slices"
	"strings"
	"testing"
)

func TestFollow(t *testing.T) {
	shell := func(script string) (expected int, err error) {
		t.Helper()
		err = follow(exec.Command("sh", "-c", script), func(line string) bool {
			known := strings.HasPrefix(line, "package ")
			if known {
				expected++
			}
			return known
		})
		return expected, err
	}

	t.Run("a command that succeeds may complain", func(t *testing.T) {
		expected, err := shell("echo package a >&2; echo a warning >&2; echo package b >&2; echo package c")
		if expected != 2 || err != nil {
			t.Errorf("got %d expected lines and %v, want the 2 on standard error and nil", expected, err)
		}
	})
	t.Run("the error holds the unexpected lines", func(t *testing.T) {
		expected, err := shell("echo package a >&2; echo main.go:1: no such thing >&2; echo see above >&2; exit 3")
		var exited *exec.ExitError
		if expected != 1 || !errors.As(err, &exited) || exited.ExitCode() != 3 {
			t.Fatalf("got %d expected lines and %v, want 1 and exit status 3", expected, err)
		}
		if want := "exit status 3\nmain.go:1: no such thing\nsee above"; err.Error() != want {
			t.Errorf("got %q, want %q", err, want)
		}
	})
	for _, test := range []struct {
		says string
		want error
	}{
		{"link: write /tmp/a.out: no space left on device", errNoSpace},
		{"/usr/lib/go/pkg/tool/linux_amd64/link: signal: killed", errNoMemory},
		{"fork/exec /usr/lib/go/pkg/tool/linux_amd64/compile: resource temporarily unavailable", errNoProcesses},
	} {
		t.Run(test.says, func(t *testing.T) {
			_, err := shell("echo '" + test.says + "' >&2; exit 1")
			if !errors.Is(err, test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want %v", err, test.want)
			}
		})
	}
	t.Run("a program that is not there", func(t *testing.T) {
		if err := follow(exec.Command("/no/such/go"), nil); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("got %v, want that it does not exist", err)
		}
	})
	t.Run("a line without end does not block", func(t *testing.T) {
		if _, err := shell("head -c 1000000 /dev/zero >&2"); !errors.Is(err, bufio.ErrTooLong) {
			t.Errorf("got %v, want %v", err, bufio.ErrTooLong)
		}
	})
}

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
	_, block, _ := strings.Cut(string(content), "\ntool (\n")
	block, _, _ = strings.Cut(block, "\n)")
	var tools []string
	for _, tool := range strings.Fields(block) {
		tools = append(tools, strings.Replace(path.Base(tool), "v3", "etcd", 1)) // of go.etcd.io/etcd/server/v3
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
