package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What may go wrong is said before it does. What is built needs less.
func TestDoctor(t *testing.T) {
	for _, test := range []struct {
		reason       string
		built        bool
		memory, free uint64
		want         string // the first word of each line: Go, control plane, memory, disk
	}{
		{"a fine machine", false, 16 << 30, 100 << 30, "ok ok ok ok"},
		{"no limit of memory", false, 0, 100 << 30, "ok ok ok ok"},
		{"little memory", false, 2 << 30, 100 << 30, "ok ok care ok"},
		{"little space", false, 16 << 30, 3 << 29, "ok ok ok STOP"},
		{"little of both, but everything is built", true, 2 << 30, 3 << 29, "ok ok ok ok"},
	} {
		home := newHome(t)
		fakeGo(t, "example.com/a")
		if test.built {
			if err := ensure(home, false, &bytes.Buffer{}); err != nil {
				t.Fatal(err)
			}
		}
		var out bytes.Buffer
		err := doctor(home, machine{test.memory, func(string) uint64 { return test.free }}, &out)
		var levels []string
		for line := range strings.Lines(out.String()) {
			levels = append(levels, strings.Fields(line)[0])
			if strings.HasPrefix(line, careful) && !strings.HasSuffix(line, ": "+moreMemory+"\n") ||
				strings.HasPrefix(line, stops) && !strings.HasSuffix(line, ": "+moreSpace+"\n") {
				t.Errorf("%s: %q does not say what to do", test.reason, line)
			}
		}
		if got := strings.Join(levels, " "); got != test.want || (err != nil) != strings.Contains(test.want, stops) {
			t.Errorf("%s: %s (%v), want %s:\n%s", test.reason, got, err, test.want, &out)
		}
	}
}

func TestDoctorLeftovers(t *testing.T) {
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	for _, test := range []struct {
		name          string
		files, runs   bool
		level, phrase string
	}{
		{"byhand", true, true, fine, "is running"},
		{"stopped", true, false, careful, "is not running: make cluster CLUSTER=stopped starts it again, make cluster-down CLUSTER=stopped removes it"},
		{"lost", false, true, careful, "has lost its files: make cluster-down CLUSTER=lost removes it"},
		{fmt.Sprint(testPrefix, ended.Process.Pid), true, true, careful, "was left by a process that was killed: the next start"},
		{fmt.Sprint(testPrefix, os.Getpid(), "-mine"), false, true, fine, fmt.Sprintf("is of process %d", os.Getpid())},
	} {
		c := cluster{home: home, name: test.name}
		if test.runs {
			startProgram(t, &c)
		} else {
			linkProgram(t, &c, "etcd")
		}
		if test.files {
			writeFile(t, filepath.Join(c.dir(), "kwok.yaml"), "")
			writeFile(t, filepath.Join(c.dir(), "etcd", "member", "db"), "")
		} else if err := os.RemoveAll(c.dir()); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := clusters(home, func(level, format string, args ...any) {
			fmt.Fprintf(&out, level+" "+format+"\n", args...)
		}); err != nil {
			t.Fatal(err)
		}
		if want := test.level + " cluster " + test.name + " " + test.phrase; !strings.Contains(out.String(), want) {
			t.Errorf("want %q in\n%s", want, &out)
		}
	}
}

// The smallest limit counts, of whichever group above the process it is. Of the disk of a
// folder that is still to be made, something is known.
func TestMachine(t *testing.T) {
	for _, test := range []struct {
		reason, groups string
		files          map[string]string
		want           uint64
	}{
		{"none", "0::/", nil, 0},
		{"none is set", "0::/a", map[string]string{"a/memory.max": "max\n", "memory.max": "max\n"}, 0},
		{"its own", "0::/a/b", map[string]string{"a/b/memory.max": "200\n", "a/memory.max": "300\n"}, 200},
		{"one above", "0::/a/b", map[string]string{"a/b/memory.max": "200\n", "a/memory.max": "100\n"}, 100},
		{"of the container", "0::/", map[string]string{"memory.max": "100\n"}, 100},
		{"of another group", "0::/a", map[string]string{"b/memory.max": "100\n"}, 0},
	} {
		top := t.TempDir()
		writeFile(t, filepath.Join(top, "proc/self/cgroup"), test.groups+"\n")
		for file, content := range test.files {
			writeFile(t, filepath.Join(top, "sys/fs/cgroup", file), content)
		}
		if got := memoryLimit(top); got != test.want {
			t.Errorf("%s: %d, want %d", test.reason, got, test.want)
		}
	}
	if free := thisMachine().free(filepath.Join(t.TempDir(), "not", "there", "yet")); free == 0 {
		t.Error("no space is free where this test writes")
	}
}
