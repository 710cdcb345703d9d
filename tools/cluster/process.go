package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// processes returns the cluster's processes, the program of each by its id. It finds them by their command
// line: kwokctl starts every program from a bin folder in the cluster's folder. Process ids in files are not
// trusted, see forgetDead.
func (c *cluster) processes() (map[int]string, error) {
	all, err := commandLines()
	if err != nil {
		return nil, fmt.Errorf("process list: %w", err)
	}
	running := map[int]string{}
	for pid, line := range all {
		if command, ours := strings.CutPrefix(line, filepath.Join(c.dir(), "bin")+string(filepath.Separator)); ours {
			running[pid], _, _ = strings.Cut(command, " ")
		}
	}
	return running, nil
}

// stopped returns the programs of the cluster that do not run.
func (c *cluster) stopped() ([]string, error) {
	running, err := c.processes()
	if err != nil {
		return nil, err
	}
	// kwokctl makes a link to each program.
	links, err := os.ReadDir(filepath.Join(c.dir(), "bin"))
	if err != nil {
		return nil, err
	}
	var stopped []string
	for _, link := range links {
		if !slices.Contains(slices.Collect(maps.Values(running)), link.Name()) {
			stopped = append(stopped, link.Name())
		}
	}
	return stopped, nil
}

// commandLines returns the command line of each process on this machine. It reads
// /proc where there is one and asks ps elsewhere: a small Linux container has no ps,
// macOS has no /proc.
func commandLines() (map[int]string, error) {
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return nil, err
	}
	all := map[int]string{}
	for _, file := range files {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			return nil, err
		}
		if content, err := os.ReadFile(file); err == nil { // else it has ended since
			all[pid] = strings.ReplaceAll(string(content), "\x00", " ")
		}
	}
	if len(files) > 0 {
		return all, nil
	}
	output, err := exec.Command("ps", "-axww", "-o", "pid=,command=").Output()
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(output)) {
		id, command, _ := strings.Cut(strings.TrimSpace(line), " ")
		pid, err := strconv.Atoi(id)
		if err != nil {
			return nil, err
		}
		all[pid] = command
	}
	return all, nil
}

// kill ends the processes and waits until they are gone.
func kill(running map[int]string) error {
	for pid := range running {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			return err
		}
	}
	deadline := time.Now().Add(10 * time.Second)
	for pid, program := range running {
		for alive(pid) {
			if time.Now().After(deadline) {
				return fmt.Errorf("%s (process %d) does not end", program, pid)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	return nil
}

// alive reports whether a process runs. A zombie, which has ended but whose parent has not
// waited for it, does not.
func alive(pid int) bool {
	if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) {
		return false
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	// "PID (COMMAND) STATE …", and the command may hold anything.
	_, state, _ := strings.Cut(string(status[bytes.LastIndexByte(status, ')'):]), " ")
	if !strings.HasPrefix(state, "Z") {
		return true
	}
	// Its first thread has ended. As long as others have not, its ports are taken.
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	return err == nil && len(threads) > 1
}

// lock lets one process at a time build programs, and start or stop clusters.
func (c *cluster) lock(out io.Writer) (unlock func(), err error) {
	return lock(filepath.Join(c.home, "cluster", "state"), out)
}

// lock makes one process at a time work in a folder, which it creates. The kernel releases the lock of a
// process that dies. Waiting for a start, which takes seconds, prints nothing; waiting for a build, which takes
// minutes, does.
func lock(dir string, out io.Writer) (unlock func(), err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		if _, err := os.Stat(filepath.Join(dir, newBin)); err == nil {
			fmt.Fprintln(out, "another process is making the programs: waiting until it is done")
		}
		err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX)
	}
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	return func() { _ = file.Close() }, nil
}
