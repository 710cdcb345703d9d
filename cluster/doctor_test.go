package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// roomy is a machine that lacks nothing.
func roomy() machine {
	return machine{memory: 16 << 30, processes: 10_000, free: func(string) uint64 { return 100 << 30 }}
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
		if !regexp.MustCompile(`^(ok    \S.*\n){7}$`).MatchString(out.String()) {
			t.Errorf("want seven lines that are ok, got\n%s", &out)
		}
	}
}

// What doctor says of a machine is what a build says on it when it is too late.
func TestDoctorSaysWhatErrorsSay(t *testing.T) {
	home := newHome(t)
	fakeGo(t, "example.com/a")
	small := roomy()
	small.free = func(string) uint64 { return 3 << 29 }
	small.memory, small.processes = 2<<30, 100
	for _, test := range []struct {
		begins, level, advice string
		err                   error
	}{
		{"disk: 1.5 GiB free in ", stops, moreSpace, errNoSpace},
		{"memory: 2.0 GiB", careful, moreMemory, errNoMemory},
		{"processes and threads: at most 100", careful, moreProcesses, errNoProcesses},
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

// A port that somebody has taken: doctor says what up would.
func TestDoctorTakenPort(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	home := builtHome(t)
	for name, want := range map[string]string{defaultName: stops, "other": careful} {
		c := cluster{home: home, name: name}
		linkProgram(t, &c, "etcd")
		writeFile(t, filepath.Join(c.dir(), "kwok.yaml"), fmt.Sprintf("options:\n  etcdPort: %d\n", taken.Addr().(*net.TCPAddr).Port))
		writeFile(t, filepath.Join(c.dir(), "etcd", "member", "db"), "")
		level, line, err := examine(t, home, roomy(), "cluster "+name+" ")
		if up := c.portsFree(0); level != want || up == nil || line != up.Error() {
			t.Errorf("%s %q, want %s %q", level, line, want, up)
		}
		if stopped := err != nil; stopped != (want == stops) {
			t.Errorf("cluster %s: error %v", name, err)
		}
		if err := os.RemoveAll(c.dir()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDoctorLeftovers(t *testing.T) {
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	home := builtHome(t)
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
		level, line, err := examine(t, home, roomy(), "cluster "+test.name+" ")
		if level != test.level || !strings.Contains(line, test.phrase) || err != nil {
			t.Errorf("%s %q (%v), want %s %q", level, line, err, test.level, test.phrase)
		}
	}
}

// A password in a proxy's URL is not shown.
func TestDoctorProxies(t *testing.T) {
	home := newHome(t)
	fakeGo(t, "example.com/a")
	t.Setenv("HTTPS_PROXY", "http://me:secret@proxy.example:3128")
	t.Setenv("FAKE_GOPROXY", "https://you:hidden@mirror.example,direct")
	_, line, _ := examine(t, home, roomy(), "Go modules: ")
	for _, want := range []string{"GOPROXY=https://…@mirror.example,direct", "HTTPS_PROXY=http://…@proxy.example:3128"} {
		if !strings.Contains(line, want) || strings.Contains(line, "secret") || strings.Contains(line, "hidden") {
			t.Errorf("%q, want %q and no password", line, want)
		}
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

// The smallest limit counts, of whichever group above the process it is.
func TestCgroupLimit(t *testing.T) {
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
		{"version 1", "5:devices:/\n4:memory:/a\n0::/", map[string]string{"memory/a/limit_in_bytes": "100\n", "a/memory.max": "50\n", "memory/limit_in_bytes": "9223372036854771712\n"}, 100},
	} {
		top := t.TempDir()
		writeFile(t, filepath.Join(top, "proc/self/cgroup"), test.groups+"\n")
		for file, content := range test.files {
			writeFile(t, filepath.Join(top, "sys/fs/cgroup", file), content)
		}
		if got := cgroupLimit(top, "memory.max", "memory", "limit_in_bytes"); got != test.want {
			t.Errorf("%s: %d, want %d", test.reason, got, test.want)
		}
	}
}
