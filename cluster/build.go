package main

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
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

// built reports whether the programs are in bin, from the go.mod and the Go of today,
// which want stands for.
func built(home string) (want string, ok bool, err error) {
	if want, err = fingerprint(home); err != nil {
		return "", false, err
	}
	have, err := os.ReadFile(filepath.Join(home, "bin", "built-from"))
	missing := slices.ContainsFunc(programs, func(program string) bool {
		_, err := os.Stat(filepath.Join(home, "bin", program))
		return err != nil
	})
	return want, err == nil && string(have) == want && !missing, nil
}

// newBin is the folder, in state, in which the programs are made. It becomes bin when it is
// whole, so that nothing half-written is ever run.
const newBin = "new-bin"

// ensure puts the programs into bin, if they are not there: downloaded, if that is asked for
// and works, else compiled.
func ensure(home string, download bool, out io.Writer) error {
	want, ok, err := built(home)
	if err != nil || ok {
		return err
	}
	dir, bin := filepath.Join(home, "state", newBin), filepath.Join(home, "bin")
	if download {
		if err := downloadInto(home, dir, out); err != nil {
			fmt.Fprintf(out, "download: %s: building from source instead\n", strings.ReplaceAll(err.Error(), "\n", ": "))
			download = false
		}
	}
	if !download {
		if err := buildFromSource(home, dir, out); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "built-from"), []byte(want), 0o600); err != nil {
		return err
	}
	if err := os.RemoveAll(bin); err != nil {
		return err
	}
	return os.Rename(dir, bin)
}

// downloader is a script that downloads the programs.
//
//go:embed download.sh
var downloader string

// downloadInto puts the official programs into dir.
func downloadInto(home, dir string, out io.Writer) error {
	if runtime.GOOS != "linux" {
		return errors.New("the API server is published for Linux alone")
	}
	if err := emptyFolder(dir); err != nil {
		return err
	}
	cmd := exec.Command("sh", "-s", dir, runtime.GOARCH)
	cmd.Dir, cmd.Stdin, cmd.Stdout = home, strings.NewReader(downloader), out
	return follow(cmd, func(string) bool { return false })
}

// buildFromSource compiles the programs into dir.
func buildFromSource(home, dir string, out io.Writer) error {
	fmt.Fprintln(out, "Building a Kubernetes control plane from source, once. It takes about 8 minutes on 2 CPUs,")
	fmt.Fprintln(out, "less if Go has compiled some of it before, and about 6 GiB of disk.")
	caches, _ := goCommand(home, "env", "GOCACHE", "GOMODCACHE").Output()
	fmt.Fprint(out, tooSmall(append(strings.Fields(string(caches)), home, os.TempDir()), freeSpace))
	start := time.Now()
	if err := emptyFolder(dir); err != nil {
		return err
	}
	todo, total, err := stalePackages(home, out)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d packages to compile (of %d), %d programs to link\n", todo, total, len(programs))
	if err := compile(home, dir, todo, out); err != nil {
		return err
	}
	fmt.Fprintf(out, "built in %s\n", time.Since(start).Round(time.Second))
	// etcd's main package is called server.
	return os.Rename(filepath.Join(dir, "server"), filepath.Join(dir, "etcd"))
}

func emptyFolder(dir string) error {
	return errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755))
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
	modules := progress{out: out, format: "downloading Go modules: %[1]d so far, %[3]s"}
	finish := modules.begin("")
	err = follow(cmd, func(line string) bool {
		module, ok := strings.CutPrefix(line, "go: downloading ")
		if ok {
			modules.step(module)
		}
		return ok
	})
	finish()
	if err != nil {
		return 0, 0, fmt.Errorf("download Go modules: %w", err)
	}
	return strings.Count(stdout.String(), "true\n"), strings.Count(stdout.String(), "\n"), nil
}

// compile builds the tools into dir and tells how far it is.
func compile(home, dir string, todo int, out io.Writer) error {
	version, err := goCommand(home, "list", "-m", "-f", "{{.Version}}", "k8s.io/kubernetes").Output()
	if err != nil {
		return fmt.Errorf("go list -m k8s.io/kubernetes: %w", err)
	}
	// Kubernetes learns its version from its linker. Unset, the server calls itself
	// v0.0.0-master, which no client understands. -s -w drops debugging tables.
	ldflags := "-s -w -X k8s.io/component-base/version.gitVersion=" + string(bytes.TrimSpace(version))
	cmd := goCommand(home, "build", "-v", "-ldflags", ldflags, "-o", dir+string(filepath.Separator), "tool")
	packages := progress{out: out, format: "compiled %[1]d of %[2]d packages, %[3]s", of: todo}
	finish := packages.begin("linking")
	err = follow(cmd, func(line string) bool {
		if strings.ContainsAny(line, " \t:") {
			return false // a compiler's complaint, not a package's name
		}
		packages.step(line)
		return true
	})
	finish()
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

// moreSpace is said when a build begins on a disk that is too small, and when it has ended
// there.
const moreSpace = "make room (a first build needs about 6 GiB), or set GOCACHE, GOMODCACHE and TMPDIR to folders on a larger disk"

const again = ", and run it again: what is compiled stays"

var (
	errNoSpace     = errors.New("the disk is full: " + moreSpace + again)
	errNoMemory    = errors.New("the compiler was killed, as the kernel does when memory is short: give it 4 GiB (RAM or swap), or set GOFLAGS=-p=1, so that one package at a time is compiled" + again)
	errNoProcesses = errors.New("no more processes or threads may be started: allow 1000 (ulimit -u, or the container's limit of PIDs)" + again)
)

// tooSmall says which of the folders that a build fills has too little room, "" if none.
func tooSmall(folders []string, free func(folder string) uint64) string {
	for _, folder := range folders {
		if gib := float64(free(folder)) / (1 << 30); gib < 6 {
			return fmt.Sprintf("%s has only %.1f GiB left: %s\n", folder, gib, moreSpace)
		}
	}
	return ""
}

// freeSpace is what may be written to the disk of a folder, which need not exist yet.
func freeSpace(folder string) uint64 {
	var disk syscall.Statfs_t
	for ; syscall.Statfs(folder, &disk) != nil; folder = filepath.Dir(folder) {
		if folder == filepath.Dir(folder) {
			return 0
		}
	}
	return disk.Bavail * uint64(disk.Bsize)
}

// shortage returns what the machine lacks if that is why a program ended with that text.
func shortage(text string) error {
	switch {
	case strings.Contains(text, syscall.ENOSPC.Error()):
		return errNoSpace
	case strings.Contains(text, "signal: killed"):
		return errNoMemory
	case strings.Contains(text, syscall.EAGAIN.Error()):
		return errNoProcesses
	}
	return nil
}

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
		err = fmt.Errorf("%w\n%s", err, strings.Join(rest, "\n"))
		return cmp.Or(shortage(err.Error()), err)
	}
	return lines.Err()
}
