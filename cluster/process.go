package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// processes returns the ids of the cluster's processes, found by what they run:
// kwokctl starts every program from a bin folder of the cluster's own. Process
// ids in files are not trusted, see forgetDead.
func (c *cluster) processes() ([]int, error) {
	lines, err := c.commandLines()
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, line := range lines {
		pid, _, _ := strings.Cut(line, " ")
		n, err := strconv.Atoi(pid)
		if err != nil {
			return nil, fmt.Errorf("process list: %w", err)
		}
		pids = append(pids, n)
	}
	return pids, nil
}

// commandLines returns "PID COMMAND ARGUMENTS" for each of the cluster's
// processes.
func (c *cluster) commandLines() ([]string, error) {
	all, err := allCommandLines()
	if err != nil {
		return nil, fmt.Errorf("process list: %w", err)
	}
	var ours []string
	for _, line := range all {
		_, command, _ := strings.Cut(line, " ")
		if strings.HasPrefix(command, filepath.Join(c.dir(), "bin")+string(filepath.Separator)) {
			ours = append(ours, line)
		}
	}
	return ours, nil
}

// allCommandLines reads /proc where there is one and asks ps elsewhere: a small
// Linux container has no ps, macOS has no /proc.
func allCommandLines() ([]string, error) {
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended since
		}
		command := string(bytes.ReplaceAll(content, []byte{0}, []byte(" ")))
		lines = append(lines, filepath.Base(filepath.Dir(file))+" "+command)
	}
	if len(files) > 0 {
		return lines, nil
	}
	output, err := exec.Command("ps", "-axww", "-o", "pid=,command=").Output()
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(output)) {
		lines = append(lines, strings.TrimSpace(line))
	}
	return lines, nil
}

// kill ends the processes and waits until they are gone.
func kill(pids []int) error {
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			return err
		}
	}
	deadline := time.Now().Add(10 * time.Second)
	for _, pid := range pids {
		for alive(pid) {
			if time.Now().After(deadline) {
				return fmt.Errorf("process %d does not end", pid)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	return nil
}

// alive reports whether a process runs. One that has ended and that its parent
// has not noticed (a zombie) does not.
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
