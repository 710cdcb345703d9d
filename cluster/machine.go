package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// machine is what make doctor asks of a machine.
type machine struct {
	memory uint64 // bytes; 0: not known
	free   func(dir string) uint64
}

func thisMachine() machine { return machine{memory("/"), freeSpace} }

// memory is what the machine has, or what its container may use of that. A container sees its
// own control group as the root of all. top is /, except in a test.
func memory(top string) (bytes uint64) {
	info, _ := os.ReadFile(filepath.Join(top, "proc/meminfo")) // "MemTotal:       16384000 kB", then others
	if words := strings.Fields(string(info)); len(words) > 1 {
		kibibytes, _ := strconv.ParseUint(words[1], 10, 64)
		bytes = kibibytes << 10
	}
	text, _ := os.ReadFile(filepath.Join(top, "sys/fs/cgroup/memory.max")) // "max" is no limit
	if limit, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64); err == nil && (bytes == 0 || limit < bytes) {
		bytes = limit
	}
	return bytes
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
