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
	"strings"
	"syscall"
	"time"
)

// built reports whether the programs in home match module's go.mod and today's Go, whose fingerprint is want.
func built(module, home string) (want string, ok bool, err error) {
	if want, err = fingerprint(module); err != nil {
		return "", false, err
	}
	have, err := os.ReadFile(filepath.Join(home, "cluster", "bin", "built-from"))
	return want, err == nil && string(have) == want, nil
}

// newBin is the folder, in state, in which the programs are built. It becomes bin when it is
// complete, so a half-written program never runs.
const newBin = "new-bin"

// ensure builds or downloads the programs, unless home has them. home/kubectl is a link to kubectl, for
// users' PATH.
func ensure(module, home string, download bool, out io.Writer) error {
	want, ok, err := built(module, home)
	if err != nil || ok {
		return err
	}
	dir, bin := filepath.Join(home, "cluster", "state", newBin), filepath.Join(home, "cluster", "bin")
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return err
	}
	fill := buildFromSource
	if download {
		fill = downloadInto
	}
	if err := fill(module, dir, out); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "built-from"), []byte(want), 0o600); err != nil {
		return err
	}
	kubectl := filepath.Join(home, "kubectl")
	if err := errors.Join(os.RemoveAll(bin), os.RemoveAll(kubectl)); err != nil {
		return err
	}
	return errors.Join(os.Rename(dir, bin), os.Symlink(filepath.Join("cluster", "bin", "kubectl"), kubectl))
}

// downloader is a script that downloads the programs.
//
//go:embed download.sh
var downloader string

func downloadInto(module, dir string, out io.Writer) error {
	if runtime.GOOS != "linux" {
		return errors.New("download: the API server is published for Linux alone: leave DOWNLOAD=1 out to compile it")
	}
	cmd := exec.Command("sh", "-s", dir, runtime.GOARCH)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = module, strings.NewReader(downloader), out, out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("download: %w: try it again, or leave DOWNLOAD=1 out to compile the programs", err)
	}
	return nil
}

func buildFromSource(module, dir string, out io.Writer) error {
	fmt.Fprintln(out, "Building a Kubernetes control plane from source, once. It takes about 8 minutes on 2 CPUs,")
	fmt.Fprintln(out, "less if Go has compiled some of it before, and about 6 GiB of disk.")
	cmd := exec.Command("go", "list", "-m", "-f", "{{.Version}}", "k8s.io/kubernetes")
	cmd.Dir = module
	version, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("go list -m k8s.io/kubernetes: %w", err)
	}
	// The linker sets Kubernetes' version. Unset, the server reports v0.0.0-master, which no client
	// understands. -s -w drops debugging tables.
	ldflags := "-s -w -X k8s.io/component-base/version.gitVersion=" + string(bytes.TrimSpace(version))
	var stale strings.Builder
	list := exec.Command("go", "list", "-deps", "-f", "{{.Stale}}", "tool") // It downloads the modules.
	list.Dir, list.Stdout = module, &stale
	if err := follow(list, 0, out); err != nil {
		return fmt.Errorf("download Go modules: %w", err)
	}
	cmd = exec.Command("go", "build", "-v", "-ldflags", ldflags, "-o", dir+string(filepath.Separator), "tool")
	cmd.Dir = module
	if err := follow(cmd, strings.Count(stale.String(), "true\n"), out); err != nil {
		return fmt.Errorf("go build: %w", err)
	}
	// etcd's main package is called server.
	return os.Rename(filepath.Join(dir, "server"), filepath.Join(dir, "etcd"))
}

// fingerprint returns a value that changes when the programs would.
func fingerprint(module string) (string, error) {
	hash := sha256.New()
	fmt.Fprintln(hash, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	for _, name := range []string{"go.mod", "go.sum"} {
		content, err := os.ReadFile(filepath.Join(module, name))
		if err != nil {
			return "", err
		}
		hash.Write(content)
	}
	return fmt.Sprintf("%x\n", hash.Sum(nil)), nil
}

const again = ", and run it again: what is compiled stays"

var (
	errNoSpace     = errors.New("the disk is full: make room (a first build needs about 6 GiB), or set GOCACHE, GOMODCACHE and TMPDIR to folders on a larger disk" + again)
	errNoMemory    = errors.New("the compiler was killed, as the kernel does when memory is short: give it 4 GiB (RAM or swap), or set GOFLAGS=-p=1, so that one package at a time is compiled" + again)
	errNoProcesses = errors.New("no more processes or threads may be started: allow 1000 (ulimit -u, or the container's limit of PIDs)" + again)
)

// shortage returns the resource that the machine lacks if text, a program's output, shows that, or nil.
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

// sayEvery is how often a running build prints its progress.
const sayEvery = 10 * time.Second

// follow runs a build and prints its progress: the lines that name a module to download or one of the todo
// packages. The other lines are the text of an error.
func follow(cmd *exec.Cmd, todo int, out io.Writer) error {
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	var complaints []string
	begin, said, modules, packages := time.Now(), time.Now(), 0, 0
	say := func() {
		fmt.Fprintf(out, "after %s: %d Go modules downloaded, %d of %d packages compiled\n", time.Since(begin).Round(time.Second), modules, packages, todo)
	}
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		line := lines.Text()
		switch {
		case strings.HasPrefix(line, "go: downloading "):
			modules++
		case strings.ContainsAny(line, " \t:"):
			complaints = append(complaints, line)
		default:
			packages++
		}
		if time.Since(said) >= sayEvery {
			said = time.Now()
			say()
		}
	}
	if modules+packages > 0 {
		say()
	}
	// A line too long for the scanner ends its loop. Without this, cmd would then block forever.
	_, _ = io.Copy(io.Discard, stderr)
	if err := cmd.Wait(); err != nil {
		err = fmt.Errorf("%w\n%s", err, strings.Join(complaints, "\n"))
		return cmp.Or(shortage(err.Error()), err)
	}
	return lines.Err()
}
