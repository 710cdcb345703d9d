package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// What the first build needs, and what a cluster does.
const (
	buildSpace, runSpace   = 6 << 30, 1 << 30
	buildMemory, runMemory = 4 << 30, 1 << 30
)

// What is fine, what may go wrong, and what stops make run.
const fine, careful, stops = "ok  ", "care", "STOP"

// doctor says, one line each, what a start would find out only after minutes (a disk or a
// memory that is too small), and which clusters are left. A missing module and a taken
// port are errors of the start at once, and say themselves what to do. It returns an error
// if make run cannot work.
func doctor(home string, m machine, out io.Writer) error {
	_, built, err := built(home)
	if err != nil {
		return err
	}
	say := func(level, format string, args ...any) {
		fmt.Fprintf(out, "%s  %s\n", level, fmt.Sprintf(format, args...))
	}
	say(fine, "Go: %s for %s/%s on %d CPUs", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0))
	space, memory := uint64(buildSpace), uint64(buildMemory)
	if built {
		space, memory = runSpace, runMemory
		say(fine, "control plane: its programs are built")
	} else {
		say(fine, "control plane: not built yet: make run does it, in about 8 minutes on 2 CPUs, and shows a recorded run meanwhile; make run DOWNLOAD=1 downloads the official programs instead")
	}
	switch {
	case m.memory == 0:
		say(fine, "memory: no limit found")
	case m.memory < memory:
		say(careful, "memory: %.1f GiB: %s", gib(m.memory), moreMemory)
	default:
		say(fine, "memory: %.1f GiB", gib(m.memory))
	}
	if err := clusters(home, say); err != nil {
		return err
	}
	least := narrowest(home, m, built)
	if m.free(least) < space {
		say(stops, "disk: %.1f GiB free in %s: %s", gib(m.free(least)), least, moreSpace)
		return errors.New("make run cannot work yet: see the line that begins with " + stops)
	}
	say(fine, "disk: %.1f GiB free in %s", gib(m.free(least)), least)
	return nil
}

func gib(bytes uint64) float64 { return float64(bytes) / (1 << 30) }

// narrowest is the folder that has the least room of those that a build fills.
func narrowest(home string, m machine, built bool) string {
	folders := []string{home}
	if !built {
		output, _ := goCommand(home, "env", "GOCACHE", "GOMODCACHE").Output()
		folders = append(strings.Split(strings.TrimSpace(string(output)), "\n"), home, os.TempDir())
	}
	return slices.MinFunc(folders, func(a, b string) int { return cmp.Compare(m.free(a), m.free(b)) })
}

// clusters says how each cluster is that there is or of which something is left.
func clusters(home string, say func(level, format string, args ...any)) error {
	all, err := commandLines()
	if err != nil {
		return err
	}
	root := filepath.Join(home, "state", "clusters") + string(filepath.Separator)
	names, err := filepath.Glob(root + "*")
	if err != nil {
		return err
	}
	for _, line := range all {
		if program, ours := strings.CutPrefix(line, root); ours {
			name, _, _ := strings.Cut(program, string(filepath.Separator))
			names = append(names, root+name)
		}
	}
	slices.Sort(names)
	for _, dir := range slices.Compact(names) {
		c := cluster{home: home, name: filepath.Base(dir)}
		level, condition := c.condition()
		say(level, "cluster %s %s", c.name, condition)
	}
	return nil
}

// condition says how the cluster is, and what to do about it.
func (c *cluster) condition() (level, condition string) {
	remove := "make cluster-down CLUSTER=" + c.name + " removes it"
	switch maker, ok := c.maker(); {
	case ok && alive(maker):
		return fine, fmt.Sprintf("is of process %d, which removes it", maker)
	case ok:
		return careful, "was left by a process that was killed: the next start of any cluster removes it"
	case !c.created():
		return careful, "has lost its files: " + remove
	}
	if missing, err := c.stopped(); err == nil && len(missing) == 0 {
		return fine, "is running"
	}
	return careful, "is not running: make cluster CLUSTER=" + c.name + " starts it again, " + remove
}
