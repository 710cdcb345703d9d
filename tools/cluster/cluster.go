package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

type cluster struct {
	module     string // the folder whose go.mod names the programs
	home       string // the folder to which this command writes
	name       string
	components string // comma-separated; empty means all
	download   bool   // the programs, instead of compiling them
}

func (c *cluster) bin(program string) string { return filepath.Join(c.home, "cluster", "bin", program) }
func (c *cluster) dir() string               { return filepath.Join(c.home, "cluster", "state", "clusters", c.name) }
func (c *cluster) kubeconfig() string        { return filepath.Join(c.home, c.name+".kubeconfig") }

// up makes the cluster serve from any state: not built, not created, partly stopped after a crash or a reboot,
// or running. First it removes clusters whose makers were killed.
func (c *cluster) up(out io.Writer) error {
	if err := sweep(c.home); err != nil {
		return err
	}
	// One at a time: two builds, or two starts of one cluster, would write the same
	// files.
	unlock, err := c.lock(out)
	if err != nil {
		return err
	}
	defer unlock()
	if err := ensure(c.module, c.home, c.download, out); err != nil {
		return err
	}

	created, err := c.reconcileProcesses()
	if err != nil {
		return err
	}
	if created && c.complete() {
		fmt.Fprintf(out, "cluster %s is running: export KUBECONFIG=%s\n", c.name, c.kubeconfig())
		return nil
	}
	return c.start(created, out)
}

// complete reports whether the cluster needs no start. start writes the kubeconfig
// last: without it, an earlier up did not finish.
func (c *cluster) complete() bool {
	_, unfinished := os.Stat(c.kubeconfig())
	return unfinished == nil && c.serves() == nil
}

// watch restarts each program that ends, and prints its name and the last line of its log. It also prints when
// the API server is not ready. It returns when ctx is done or the cluster is removed.
func (c *cluster) watch(ctx context.Context, out io.Writer) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for ticks := 1; ; ticks++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if stopped, err := c.stopped(); err == nil && len(stopped) == 0 {
			if ticks%10 == 0 {
				if err := c.serves(); err != nil && ctx.Err() == nil {
					fmt.Fprintf(out, "cluster %s: kube-apiserver is not ready: %v\n", c.name, err)
				}
			}
			continue
		}
		if exists, err := c.startAgain(out); err != nil {
			fmt.Fprintln(out, "cluster:", err)
		} else if !exists {
			return
		}
	}
}

// startAgain starts the cluster's stopped programs, and reports whether there is a cluster.
func (c *cluster) startAgain(out io.Writer) (exists bool, err error) {
	unlock, err := c.lock(out)
	if err != nil {
		return false, err
	}
	defer unlock()
	if exists, err = c.reconcileProcesses(); err != nil || !exists {
		return false, err
	}
	return true, c.start(true, out)
}

func (c *cluster) down(out io.Writer) error {
	unlock, err := c.lock(out)
	if err != nil {
		return err
	}
	defer unlock()
	// A start that failed early leaves files and no cluster.
	existed, err := c.remove()
	if err != nil {
		return err
	}
	if !existed {
		fmt.Fprintf(out, "there is no cluster %s\n", c.name)
		return nil
	}
	fmt.Fprintf(out, "cluster %s is removed\n", c.name)
	return nil
}

// remove reports whether there was a process or data of the cluster.
func (c *cluster) remove() (existed bool, err error) {
	running, err := c.processes()
	if err != nil {
		return false, err
	}
	if err := kill(running); err != nil {
		return true, fmt.Errorf("stop cluster %s: %w", c.name, err)
	}
	_, err = os.Stat(c.dir())
	return err == nil || len(running) > 0, errors.Join(
		os.RemoveAll(c.dir()),
		os.RemoveAll(c.kwokctlConfig()),
		os.RemoveAll(c.frontProxy()),
		os.RemoveAll(c.kubeconfig()))
}

// reconcileProcesses makes the files match the running processes, and reports whether the cluster was created
// before.
func (c *cluster) reconcileProcesses() (created bool, err error) {
	running, err := c.processes()
	if err != nil {
		return false, err
	}
	if c.created() {
		return true, c.forgetDead(running)
	}
	// Without its files (git clean removes them) a running cluster is of no use.
	_, err = c.remove()
	return false, err
}

// created reports whether the cluster has data to keep. Before etcd starts there is no data, and kwokctl cannot
// resume an interrupted creation.
func (c *cluster) created() bool {
	_, noConfig := os.Stat(filepath.Join(c.dir(), "kwok.yaml"))
	_, noData := os.Stat(filepath.Join(c.dir(), "etcd", "member"))
	return noConfig == nil && noData == nil
}

// forgetDead removes the files whose process id is not one of the cluster's processes. kwokctl trusts each id
// in a file, and after a reboot a different program may have it.
func (c *cluster) forgetDead(running map[int]string) error {
	files, err := filepath.Glob(filepath.Join(c.dir(), "pids", "*.pid"))
	if err != nil {
		return err
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if pid, err := strconv.Atoi(strings.TrimSpace(string(content))); err == nil && running[pid] != "" {
			continue
		}
		if err := os.Remove(file); err != nil {
			return err
		}
	}
	return nil
}

// serves returns nil if each program runs and the API server is ready. Otherwise the error names the first
// problem.
func (c *cluster) serves() error {
	if stopped, err := c.stopped(); err != nil || len(stopped) > 0 {
		return cmp.Or(err, fmt.Errorf("not running: %s", strings.Join(stopped, ", ")))
	}
	return c.kubectl("get", "--raw", "/readyz", "--request-timeout=5s")
}

// startTimeout bounds a start, which takes 10 s on an idle machine.
const startTimeout = 3 * time.Minute

const wholeControlPlane = "etcd,kube-apiserver,kube-controller-manager,kube-scheduler,kwok-controller"

// start starts the cluster's stopped programs, and prints their names and why they start.
func (c *cluster) start(created bool, out io.Writer) error {
	start := time.Now()
	if created {
		fmt.Fprintf(out, "cluster %s: starting it again%s\n", c.name, c.lastLines())
		if err := c.portsFree(5 * time.Second); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(out, "cluster %s: starting\n", c.name)
		if err := c.writeFrontProxy(); err != nil {
			return err
		}
	}
	if err := c.startPrograms(); err != nil {
		return fmt.Errorf("cluster %s does not start: %w\nlogs: %s%s\nIf it does not recover, remove it with its data (make cluster-down) and start a new one (make cluster)",
			c.name, err, filepath.Join(c.dir(), "logs"), c.lastLines())
	}
	fmt.Fprintf(out, "cluster %s is ready after %.1f s: export KUBECONFIG=%s\n", c.name, time.Since(start).Seconds(), c.kubeconfig())
	return nil
}

// startPrograms creates the cluster or starts its stopped programs, waits until it serves, and ensures that
// the scheduler has a node.
func (c *cluster) startPrograms() error {
	if err := c.writeKwokctlConfig(); err != nil {
		return err
	}
	if err := c.create(); err != nil {
		return err
	}
	for deadline := time.Now().Add(startTimeout); ; time.Sleep(100 * time.Millisecond) {
		err := c.serves()
		if err == nil {
			break
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("it is not ready after %s: %w", startTimeout, err)
		}
		// On a busy machine kube-controller-manager gives up before the API server is ready.
		if stopped, _ := c.stopped(); len(stopped) > 0 {
			if _, err := c.reconcileProcesses(); err != nil {
				return err
			}
			if err := c.create(); err != nil {
				return err
			}
		}
	}
	// A cluster without kwok has no node.
	if _, err := os.Lstat(filepath.Join(c.dir(), "bin", "kwok-controller")); err == nil {
		// A real node is limited to 110 Pods. These Pods run nothing, so there is no need.
		if err := c.kwokctl("scale", "node", "--replicas=1", "--param=.allocatable.pods=10000", "--config="+c.kwokctlConfig()); err != nil {
			return err
		}
		if err := c.kubectl("wait", "node", "--all", "--for=condition=Ready", "--timeout="+startTimeout.String()); err != nil {
			return err
		}
	}
	// The same file under a name that is easy to type. It exists only when the start is complete.
	content, err := os.ReadFile(filepath.Join(c.dir(), "kubeconfig.yaml"))
	if err != nil {
		return err
	}
	return os.WriteFile(c.kubeconfig(), content, 0o600)
}

// create makes kwokctl start the stopped programs.
func (c *cluster) create() error {
	// kwokctl would add the cluster to ~/.kube/config unless told otherwise.
	return c.kwokctl("create", "cluster", "--kubeconfig=", "--timeout="+startTimeout.String(), "--config="+c.kwokctlConfig(),
		"--components="+cmp.Or(c.components, wholeControlPlane))
}

// lastLines returns a line for each stopped program, with the last line of its log.
func (c *cluster) lastLines() string {
	var lines string
	stopped, _ := c.stopped()
	for _, program := range stopped {
		if log, err := os.ReadFile(filepath.Join(c.dir(), "logs", program+".log")); err == nil {
			all := strings.Split(strings.TrimSpace(string(log)), "\n")
			lines += fmt.Sprintf("\n%s has stopped; the last line of its log: %s", program, all[len(all)-1])
		}
	}
	return lines
}
