package main

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// roomy is a machine that lacks nothing.
func roomy() machine {
	return machine{memory: 16 << 30, free: func(string) uint64 { return 100 << 30 }}
}

// examine returns the line of doctor that begins so, without its level.
func examine(t *testing.T, home string, m machine, begins string) (level, line string, err error) {
	t.Helper()
	var out bytes.Buffer
	err = doctor(home, m, &out)
	for l := range strings.Lines(out.String()) {
		if strings.HasPrefix(l[len(fine)+2:], begins) {
			return l[:len(fine)], strings.TrimSpace(l[len(fine)+2:]), err
		}
	}
	t.Fatalf("no line begins with %q (%v):\n%s", begins, err, &out)
	return "", "", nil
}

// builtHome is a folder in which everything is built.
func builtHome(t *testing.T) string {
	t.Helper()
	home := newHome(t)
	fakeGo(t, "example.com/a")
	if err := ensure(home, false, io.Discard); err != nil {
		t.Fatal(err)
	}
	return home
}

func TestDoctorOfAFineMachine(t *testing.T) {
	for _, home := range []string{newHome(t), builtHome(t)} {
		var out bytes.Buffer
		if err := doctor(home, roomy(), &out); err != nil {
			t.Errorf("error %v", err)
		}
		if !regexp.MustCompile(`^(ok    \S.*\n){5}$`).MatchString(out.String()) {
			t.Errorf("want five lines that are ok, got\n%s", &out)
		}
	}
}

// What doctor says of a machine is what a build says on it when it is too late.
func TestDoctorSaysWhatErrorsSay(t *testing.T) {
	home := newHome(t)
	fakeGo(t, "example.com/a")
	small := roomy()
	small.free = func(string) uint64 { return 3 << 29 }
	small.memory = 2 << 30
	for _, test := range []struct {
		begins, level, advice string
		err                   error
	}{
		{"disk: 1.5 GiB free in ", stops, moreSpace, errNoSpace},
		{"memory: 2.0 GiB", careful, moreMemory, errNoMemory},
	} {
		level, line, err := examine(t, home, small, test.begins)
		if level != test.level || !strings.HasSuffix(line, ": "+test.advice) || !strings.Contains(test.err.Error(), ": "+test.advice+again) {
			t.Errorf("%s %q, want %s and the words of %q", level, line, test.level, test.err)
		}
		if err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("error %v, want one line", err)
		}
	}
	// Half of it is enough to run.
	if err := doctor(builtHome(t), small, io.Discard); err != nil {
		t.Errorf("when everything is built: %v", err)
	}
}

// Without a proxy, only modules that are there already can be built.
func TestDoctorNoModules(t *testing.T) {
	home := newHome(t)
	fakeGo(t, "example.com/a")
	t.Setenv("FAKE_GOPROXY", "off")
	if level, line, _ := examine(t, home, roomy(), "Go modules: "); level != fine {
		t.Errorf("%s %q, want it fine: the modules are there", level, line)
	}
	t.Setenv("FAKE_MISSING", "1")
	level, line, err := examine(t, home, roomy(), "Go modules: GOPROXY=off")
	_, _, build := stalePackages(home, io.Discard)
	what := strings.ReplaceAll(fmt.Sprint(build), "\n", ": ")
	if err == nil || build == nil || level != stops || !strings.Contains(line, ": "+what+": set GOPROXY to ") {
		t.Errorf("%s %q (%v), want %s with %q", level, line, err, stops, what)
	}
}

// Of the machine that runs the tests something is known, and nothing is invented.
func TestThisMachine(t *testing.T) {
	m := thisMachine()
	if free := m.free(filepath.Join(t.TempDir(), "not", "there", "yet")); free == 0 {
		t.Error("no space is free where this test writes")
	}
	if m.memory == 0 && runtime.GOOS == "linux" {
		t.Error("the memory is not known")
	}
}

// The smaller of the two counts.
func TestMemory(t *testing.T) {
	const info = "MemTotal:       2048 kB\nMemFree:        1024 kB\n"
	for _, test := range []struct {
		reason, info, max string
		want              uint64
	}{
		{"a machine", info, "max\n", 2 << 20},
		{"a small container", info, "4096\n", 4096},
		{"a container that may use more than there is", info, "4294967296\n", 2 << 20},
		{"nothing is known", "", "", 0},
	} {
		top := t.TempDir()
		writeFile(t, filepath.Join(top, "proc/meminfo"), test.info)
		writeFile(t, filepath.Join(top, "sys/fs/cgroup/memory.max"), test.max)
		if got := memory(top); got != test.want {
			t.Errorf("%s: %d, want %d", test.reason, got, test.want)
		}
	}
}
