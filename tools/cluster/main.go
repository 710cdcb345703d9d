package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

const defaultName = "byhand"

// testPrefix and the process id of its maker begin the name of a cluster that is
// not to outlive its maker: "test-4711" of exec, "test-4711-crash" of a test,
// "test-4711-1" of the comparison.
const testPrefix = "test-"

func main() {
	module, err := moduleDir()
	if err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
	code, err := run(module, homeOf(module), os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
	os.Exit(code)
}

// homeOf returns the folder to which the command writes: bin at the root of the repository.
func homeOf(module string) string { return filepath.Join(module, "..", "..", "bin") }

// run does what args say. module is the folder whose go.mod names the programs, and home the folder to which the
// command writes.
func run(module, home string, args []string) (exitCode int, err error) {
	if len(args) == 0 {
		return 0, errors.New("say what to do: up, down or exec (see doc.go)")
	}
	flags := flag.NewFlagSet("cluster "+args[0], flag.ContinueOnError)
	unnamed := defaultName
	if args[0] == "exec" {
		unnamed = ownName()
	}
	name := flags.String("name", unnamed, "name of the cluster; exec keeps one that is named")
	components := flags.String("components", "", "comma-separated programs to start instead of the whole control plane, for example etcd,kube-apiserver")
	download := flags.Bool("download", false, "download the official programs instead of compiling them (up, exec)")
	if err := flags.Parse(args[1:]); errors.Is(err, flag.ErrHelp) {
		return 0, nil
	} else if err != nil {
		return 0, err
	}
	// The name becomes a folder. Processes are found by it.
	if *name == "" || strings.Trim(*name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return 0, fmt.Errorf("cluster name %q: use lower-case letters, digits and '-'", *name)
	}

	c := cluster{module: module, home: home, name: *name, components: *components, download: *download}
	switch args[0] {
	case "up", "down":
		// `down NAME` without --name would remove the wrong cluster.
		if flags.NArg() > 0 {
			return 0, fmt.Errorf("%s: unexpected %q: a cluster is named by --name", args[0], flags.Arg(0))
		}
		if args[0] == "up" {
			return 0, c.up(os.Stdout)
		}
		return 0, c.down(os.Stdout)
	case "exec":
		return c.exec(flags.Args())
	case "help", "--help", "-h":
		flags.Usage()
		return 0, nil
	default:
		return 0, fmt.Errorf("%q is not up, down or exec", args[0])
	}
}

func ownName() string { return testPrefix + strconv.Itoa(os.Getpid()) }

// exec runs one command against a cluster and returns its exit code. Meanwhile it restarts each program of
// the cluster that exits. It always removes the cluster, unless it was named.
func (c *cluster) exec(command []string) (exitCode int, err error) {
	if len(command) == 0 {
		return 0, errors.New("exec: no command given after --")
	}
	// Ctrl-C reaches the command through the terminal; SIGTERM is passed on below.
	interrupted, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if c.name == ownName() {
		defer func() { err = errors.Join(err, c.down(os.Stderr)) }()
	}
	if !c.complete() {
		err = c.up(os.Stderr)
	}
	if err := cmp.Or(err, interrupted.Err()); err != nil {
		return 0, err
	}
	watching, stopWatching := context.WithCancel(context.Background())
	var watch sync.WaitGroup
	watch.Go(func() { c.watch(watching, os.Stderr) })
	defer watch.Wait()
	defer stopWatching()

	// Set here and not for the command alone: the command itself may be kubectl.
	if err := errors.Join(os.Setenv("PATH", c.path()), os.Setenv("KUBECONFIG", c.kubeconfig())); err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir = filepath.Dir(c.home)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	var exited *exec.ExitError
	if err := cmd.Run(); errors.As(err, &exited) {
		return max(exited.ExitCode(), 1), nil
	} else if err != nil {
		return 0, err
	}
	return 0, nil
}

// sweep removes the clusters whose makers were killed before they could.
func sweep(home string) error {
	left, err := filepath.Glob(filepath.Join(home, "cluster", "state", "clusters", testPrefix+"*"))
	if err != nil {
		return err
	}
	for _, dir := range left {
		c := cluster{home: home, name: filepath.Base(dir)}
		if maker, ok := c.maker(); !ok || alive(maker) {
			continue
		}
		if err := c.down(os.Stderr); err != nil {
			return err
		}
	}
	return nil
}

// maker is the process that the cluster is not to outlive, if there is one.
func (c *cluster) maker() (pid int, ok bool) {
	rest, ok := strings.CutPrefix(c.name, testPrefix)
	id, _, _ := strings.Cut(rest, "-")
	pid, err := strconv.Atoi(id)
	return pid, ok && err == nil
}

// moduleDir is the folder that this source file was compiled from.
func moduleDir() (string, error) {
	_, file, _, ok := runtime.Caller(0)
	dir := filepath.Dir(file)
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); !ok || err != nil {
		return "", fmt.Errorf("cannot find the cluster folder (looked in %s): run it with `go run .` from there", dir)
	}
	return dir, nil
}
