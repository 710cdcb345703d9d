package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// machine is what make doctor asks of a machine. A limit of 0 is not known, or none.
type machine struct {
	memory uint64 // bytes
	free   func(dir string) uint64
}

func thisMachine() machine {
	m := machine{memory: memoryLimit("/"), free: freeSpace}
	info, _ := os.ReadFile("/proc/meminfo") // "MemTotal:       16384000 kB", then others
	if words := strings.Fields(string(info)); len(words) > 1 {
		if total, err := strconv.ParseUint(words[1], 10, 64); err == nil && (m.memory == 0 || total<<10 < m.memory) {
			m.memory = total << 10
		}
	}
	return m
}

// memoryLimit is the smallest limit among the control groups that this process is in, such
// as those of its container. top is /, except in a test.
func memoryLimit(top string) (limit uint64) {
	own, _ := os.ReadFile(filepath.Join(top, "proc/self/cgroup")) // "0::/group"
	_, group, _ := strings.Cut(strings.TrimSpace(string(own)), "0::")
	for ; group != ""; group = filepath.Dir(group) {
		text, _ := os.ReadFile(filepath.Join(top, "sys/fs/cgroup", group, "memory.max")) // "max" is no limit
		if n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64); err == nil && (limit == 0 || n < limit) {
			limit = n
		}
		if group == "/" {
			break
		}
	}
	return limit
}

// freeSpace is what may be written to the disk of a folder, which need not exist yet.
func freeSpace(dir string) uint64 {
	var disk syscall.Statfs_t
	for ; syscall.Statfs(dir, &disk) != nil; dir = filepath.Dir(dir) {
		if dir == filepath.Dir(dir) {
			return 0
		}
	}
	return disk.Bavail * uint64(disk.Bsize)
}
