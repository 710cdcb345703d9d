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

// buildNeeds is what the first build writes, in bytes, measured on linux/amd64:
// 4.0 GiB in Go's build cache, 0.9 GiB of module sources, 0.6 GiB of programs,
// and room for the linker.
const buildNeeds = 6 << 30

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

	fmt.Fprintln(out, "Building a Kubernetes control plane from source. This happens once: on 2 cores it takes")
	fmt.Fprintln(out, "about 8 minutes on 2 CPUs, less if Go has compiled some of it before.")
	if err := enoughDisk(home, buildNeeds); err != nil {
		return err
	}
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

var errNoSpace = fmt.Errorf("the disk is full: make room (about %s are needed), or set GOCACHE, GOMODCACHE and TMPDIR to folders on a larger disk, and run it again: what is compiled stays", gib(buildNeeds))

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

// enoughDisk refuses to start a build that the disk cannot hold. Folders on the
// same disk count once; what was compiled earlier counts as if it was not there,
// so a machine that built before and is nearly full is told so only if less than
// an eighth is left for what may be missing.
func enoughDisk(home string, need uint64) error {
	output, err := goCommand(home, "env", "GOCACHE", "GOMODCACHE").Output()
	if err != nil {
		return fmt.Errorf("go env: %w", err)
	}
	folders := strings.Split(strings.TrimSpace(string(output)), "\n")
	if cacheHolds(folders[0]) {
		need /= 8
	}
	for _, dir := range append(folders, home) {
		free, err := freeBytes(dir)
		if err != nil {
			return err
		}
		if free < need {
			return fmt.Errorf("too little disk: %s has %s free, the build needs about %s: make room, or set GOCACHE and GOMODCACHE to folders on a larger disk", dir, gib(free), gib(need))
		}
	}
	return nil
}

// cacheHolds guesses whether Go's build cache has seen a build of this size: the
// cache spreads its files over 256 folders.
func cacheHolds(gocache string) bool {
	files, err := filepath.Glob(filepath.Join(gocache, "0[0-7]", "*-d"))
	return err == nil && len(files) >= 50
}

// freeBytes is the space that an ordinary user has left on the disk of dir, or
// of its closest parent that exists.
func freeBytes(dir string) (uint64, error) {
	var stat syscall.Statfs_t
	for {
		err := syscall.Statfs(dir, &stat)
		if err == nil {
			return stat.Bavail * uint64(stat.Bsize), nil
		}
		if !errors.Is(err, os.ErrNotExist) || dir == filepath.Dir(dir) {
			return 0, fmt.Errorf("free space of %s: %w", dir, err)
		}
		dir = filepath.Dir(dir)
	}
}

func gib(bytes uint64) string { return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30)) }
