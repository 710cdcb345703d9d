package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// What the first build needs, and what a cluster does.
const (
	buildSpace, runSpace   = 6 << 30, 1 << 30
	buildMemory, runMemory = 4 << 30, 1 << 30
	enoughProcesses        = 1000
)

// finding is a line of make doctor.
type finding struct{ level, text string }

// What is fine, what may go wrong, and what stops make run.
const fine, careful, stops = "ok  ", "care", "STOP"

// doctor says, one line each, what could stop `make run`, and what to do about it. It
// returns an error if something does.
func doctor(home string, m machine, out io.Writer) error {
	_, ok, err := built(home)
	if err != nil {
		return err
	}
	findings := []finding{
		{fine, fmt.Sprintf("Go: %s for %s/%s on %d CPUs", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0))},
		programsFinding(ok), spaceFinding(home, m, ok), memoryFinding(m, ok), processesFinding(m),
		modulesFinding(home, ok), portsFinding(),
	}
	left, err := clusterFindings(home)
	if err != nil {
		return err
	}
	count := 0
	for _, f := range append(findings, left...) {
		fmt.Fprintf(out, "%s  %s\n", f.level, strings.ReplaceAll(f.text, "\n", "; "))
		if f.level == stops {
			count++
		}
	}
	if count > 0 {
		return fmt.Errorf("make run cannot work yet: see the lines that begin with %s", stops)
	}
	return nil
}

func programsFinding(built bool) finding {
	if built {
		return finding{fine, "control plane: its programs are built"}
	}
	return finding{fine, "control plane: not built yet: make run does it, in about 8 minutes on 2 CPUs, and shows a recorded run meanwhile; make run DOWNLOAD=1 downloads the official programs instead"}
}

// spaceFinding is about the folder that has the least room of those that a build fills.
func spaceFinding(home string, m machine, built bool) finding {
	folders, needed := []string{home}, uint64(runSpace)
	if !built {
		needed = buildSpace
		output, _ := goCommand(home, "env", "GOCACHE", "GOMODCACHE").Output()
		folders = append(strings.Split(strings.TrimSpace(string(output)), "\n"), home, os.TempDir())
	}
	least := slices.MinFunc(folders, func(a, b string) int { return cmp.Compare(m.free(a), m.free(b)) })
	text := fmt.Sprintf("disk: %.1f GiB free in %s", gib(m.free(least)), least)
	if m.free(least) < needed {
		return finding{stops, text + ": " + moreSpace}
	}
	return finding{fine, text}
}

func gib(bytes uint64) float64 { return float64(bytes) / (1 << 30) }

func memoryFinding(m machine, built bool) finding {
	needed := uint64(runMemory)
	if !built {
		needed = buildMemory
	}
	switch text := fmt.Sprintf("memory: %.1f GiB", gib(m.memory)); {
	case m.memory == 0:
		return finding{fine, "memory: no limit found"}
	case m.memory < needed:
		return finding{careful, text + ": " + moreMemory}
	default:
		return finding{fine, text}
	}
}

func processesFinding(m machine) finding {
	switch text := fmt.Sprintf("processes and threads: at most %d", m.processes); {
	case m.processes == 0:
		return finding{fine, "processes and threads: no limit found"}
	case m.processes < enoughProcesses:
		return finding{careful, text + ": " + moreProcesses}
	default:
		return finding{fine, text}
	}
}

// password is what stands before the host of a proxy's URL.
var password = regexp.MustCompile(`//[^/@,|]*@`)

// modulesFinding is about where Go modules come from. Only the first build needs them.
func modulesFinding(home string, built bool) finding {
	output, err := goCommand(home, "env", "GOPROXY").Output()
	if err != nil {
		return finding{stops, fmt.Sprintf("Go modules: go env: %v", err)}
	}
	text := "Go modules: GOPROXY=" + strings.TrimSpace(string(output))
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy"} {
		if value := os.Getenv(name); value != "" {
			text += " " + name + "=" + value
		}
	}
	text = password.ReplaceAllString(text, "//…@")
	if !built && strings.TrimSpace(string(output)) == "off" {
		if _, _, err := stalePackages(home, io.Discard); err != nil {
			// The second line is about the first module that is missing.
			said := append(strings.SplitN(err.Error(), "\n", 3), "")
			return finding{stops, fmt.Sprintf("%s: %s: %s: set GOPROXY to https://proxy.golang.org,direct or to your company's proxy", text, said[0], said[1])}
		}
	}
	return finding{fine, text}
}

func portsFinding() finding {
	if _, err := freePorts(6); err != nil {
		return finding{stops, fmt.Sprintf("ports: %v", err)}
	}
	return finding{fine, "ports: enough are free"}
}

// clusterFindings are about each cluster that there is or of which something is left.
func clusterFindings(home string) (found []finding, err error) {
	all, err := commandLines()
	if err != nil {
		return nil, err
	}
	root := filepath.Join(home, "state", "clusters") + string(filepath.Separator)
	names, err := filepath.Glob(root + "*")
	if err != nil {
		return nil, err
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
		found = append(found, c.condition())
	}
	return found, nil
}

// condition says how the cluster is, and what to do about it.
func (c *cluster) condition() finding {
	is, remove := "cluster "+c.name+" ", "make cluster-down CLUSTER="+c.name+" removes it"
	switch maker, ok := c.maker(); {
	case ok && alive(maker):
		return finding{fine, fmt.Sprintf("%sis of process %d, which removes it", is, maker)}
	case ok:
		return finding{careful, is + "was left by a process that was killed: the next start of any cluster removes it"}
	case !c.created():
		return finding{careful, is + "has lost its files: " + remove}
	}
	missing, err := c.stopped()
	if err == nil && len(missing) == 0 {
		return finding{fine, is + "is running"}
	}
	if err = errors.Join(err, c.portsFree(0)); err == nil {
		return finding{careful, is + "is not running: make cluster CLUSTER=" + c.name + " starts it again, " + remove}
	}
	if c.name == defaultName {
		return finding{stops, err.Error()}
	}
	return finding{careful, err.Error()}
}
