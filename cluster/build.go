package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// programs are the names of the tools of go.mod.
var programs = []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl", "kwok", "kwokctl"}

// build compiles the programs into bin, unless they are there from the same go.mod
// and the same Go.
func build(home string, out io.Writer) error {
	stamp := filepath.Join(home, "bin", "built-from")
	want, err := fingerprint(home)
	if err != nil {
		return err
	}
	missing := slices.ContainsFunc(programs, func(program string) bool {
		_, err := os.Stat(filepath.Join(home, "bin", program))
		return err != nil
	})
	if have, err := os.ReadFile(stamp); err == nil && string(have) == want && !missing {
		return nil
	}

	fmt.Fprintln(out, "Building a Kubernetes control plane from source, once. It takes about 8 minutes on 2 CPUs,")
	fmt.Fprintln(out, "less if Go has compiled some of it before, and about 6 GiB of disk.")
	start := time.Now()
	todo, total, err := stalePackages(home, out)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d packages to compile (of %d), %d programs to link\n", todo, total, len(programs))
	if err := compile(home, todo, out); err != nil {
		return err
	}
	// etcd's main package is called server.
	if err := os.Rename(filepath.Join(home, "bin", "server"), filepath.Join(home, "bin", "etcd")); err != nil {
		return err
	}
	fmt.Fprintf(out, "built in %s\n", time.Since(start).Round(time.Second))
	return os.WriteFile(stamp, []byte(want), 0o600)
}

// fingerprint changes when the programs would.
func fingerprint(home string) (string, error) {
	hash := sha256.New()
	fmt.Fprintln(hash, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	for _, name := range []string{"go.mod", "go.sum"} {
		content, err := os.ReadFile(filepath.Join(home, name))
		if err != nil {
			return "", err
		}
		hash.Write(content)
	}
	return fmt.Sprintf("%x\n", hash.Sum(nil)), nil
}

// stalePackages counts the packages that are not in Go's build cache, and all.
// It downloads the modules first, which is all that is ever downloaded.
func stalePackages(home string, out io.Writer) (stale, total int, err error) {
	cmd := goCommand(home, "list", "-deps", "-f", "{{.Stale}}", "tool")
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	modules := progress{out: out, format: "downloading Go modules: %[1]d so far, %[3]s\n"}
	err = follow(cmd, func(line string) bool {
		if !strings.HasPrefix(line, "go: downloading ") {
			return false
		}
		modules.step()
		return true
	})
	modules.finish()
	if err != nil {
		return 0, 0, fmt.Errorf("download Go modules: %w", err)
	}
	return strings.Count(stdout.String(), "true\n"), strings.Count(stdout.String(), "\n"), nil
}

// compile builds the tools and tells how far it is.
func compile(home string, todo int, out io.Writer) error {
	version, err := goCommand(home, "list", "-m", "-f", "{{.Version}}", "k8s.io/kubernetes").Output()
	if err != nil {
		return fmt.Errorf("go list -m k8s.io/kubernetes: %w", err)
	}
	// Kubernetes learns its version from its linker. Unset, the server calls itself
	// v0.0.0-master, which no client understands. -s -w drops debugging tables.
	ldflags := "-s -w -X k8s.io/component-base/version.gitVersion=" + string(bytes.TrimSpace(version))
	cmd := goCommand(home, "build", "-v", "-ldflags", ldflags, "-o", filepath.Join(home, "bin")+string(filepath.Separator), "tool")
	packages := progress{out: out, format: "compiled %[1]d of %[2]d packages, %[3]s\n", of: todo}
	err = follow(cmd, func(line string) bool {
		if strings.ContainsAny(line, " \t:") {
			return false // a compiler's complaint, not a package's name
		}
		packages.step()
		return true
	})
	packages.finish()
	if err != nil {
		return fmt.Errorf("go build: %w", err)
	}
	return nil
}

func goCommand(home string, args ...string) *exec.Cmd {
	cmd := exec.Command("go", args...)
	cmd.Dir = home
	return cmd
}

var errNoSpace = errors.New("the disk is full: make room (a first build needs about 6 GiB), or set GOCACHE, GOMODCACHE and TMPDIR to folders on a larger disk, and run it again: what is compiled stays")

// follow runs cmd and hands each line of its standard error to expected. Lines
// that expected does not know are the error's text if cmd fails.
func follow(cmd *exec.Cmd, expected func(line string) bool) error {
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	var rest []string
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if line := lines.Text(); !expected(line) {
			rest = append(rest, line)
		}
	}
	// A line too long for the scanner ends its loop, and would block cmd for ever.
	_, _ = io.Copy(io.Discard, stderr)
	if err := cmd.Wait(); err != nil {
		text := strings.Join(rest, "\n")
		if strings.Contains(text, syscall.ENOSPC.Error()) {
			return errNoSpace
		}
		return fmt.Errorf("%w\n%s", err, text)
	}
	return lines.Err()
}

// progress prints a line every few seconds: format gets the steps done, the
// steps in all and the time since the first.
type progress struct {
	out         io.Writer
	format      string
	of, done    int
	start, last time.Time
}

func (p *progress) step() {
	now := time.Now()
	if p.done == 0 {
		p.start, p.last = now, now
	}
	p.done++
	if now.Sub(p.last) >= 5*time.Second {
		p.last = now
		p.print()
	}
}

func (p *progress) finish() {
	if p.done > 0 {
		p.print()
	}
}

func (p *progress) print() {
	fmt.Fprintf(p.out, p.format, p.done, p.of, time.Since(p.start).Round(time.Second))
}
