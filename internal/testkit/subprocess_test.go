//go:build unix

package testkit_test

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.com/byhand/internal/testkit/subprocess"
)

const minute = time.Minute

// forever is a script that SIGTERM ends.
const forever = "while sleep 0.1; do :; done"

func shell(script string) *exec.Cmd { return exec.Command("sh", "-c", script) }

func startProcess(t *testing.T, cmd *exec.Cmd) *subprocess.Process {
	t.Helper()
	p, err := subprocess.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return p
}

// What is printed can be read while the process runs, whole lines are counted once each, and
// the last one counts when the process has ended.
func TestPrints(t *testing.T) {
	t.Parallel()
	cmd := shell(`echo first 1; printf 'first 2, '; read go; echo >&2; printf 'first 3'; exit 3`)
	goOn, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	p := startProcess(t, cmd)
	first := regexp.MustCompile(`first \d`)
	if err := p.Prints(t.Context(), 1, first); err != nil || p.Ended() != "" {
		t.Errorf("the first line: %v, it has ended: %q", err, p.Ended())
	}
	if err := goOn.Close(); err != nil {
		t.Fatal(err)
	}
	if err := p.Prints(t.Context(), 3, first); err != nil {
		t.Errorf("all: %v", err)
	}
	if err := p.Prints(t.Context(), 4, first); !errors.Is(err, subprocess.ErrEnded) || !strings.Contains(err.Error(), "3 of 4") || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("one that does not come: %v", err)
	}
	if err := p.Explain(errors.New("why")); err.Error() != "why; the last lines of sh:\nfirst 1\nfirst 2, \nfirst 3" {
		t.Errorf("explained: %v", err)
	}
	if err := p.Explain(fmt.Errorf("interrupted: %w", context.Canceled)); strings.Contains(err.Error(), "first") {
		t.Errorf("explained to one who gave up: %v", err)
	}
}

// Half a line is not looked at: the rest of it may not match.
func TestPrintsWholeLines(t *testing.T) {
	t.Parallel()
	p := startProcess(t, shell(`echo ready; printf half; `+forever))
	if err := p.Prints(t.Context(), 1, regexp.MustCompile("ready")); err != nil {
		t.Fatal(err)
	}
	late := errors.New("late")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, late)
	defer cancel()
	if err := p.Prints(ctx, 1, regexp.MustCompile("half")); !errors.Is(err, late) {
		t.Errorf("%v, want the cause of the context", err)
	}
}

// However a process ends, or does not: afterwards it is gone, and it is told how.
func TestStop(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ script, want string }{
		{"trap 'exit 0' TERM; echo ready; " + forever, ""},
		{"trap 'exit 4' TERM; echo ready; " + forever, "exit status 4"},
		{"echo ready; " + forever, "signal: terminated"},
		{"trap '' TERM; echo ready; " + forever, subprocess.ErrKilled.Error() + ", for 100ms"},
	} {
		p := startProcess(t, shell(test.script))
		if err := p.Prints(t.Context(), 1, regexp.MustCompile("ready")); err != nil {
			t.Fatal(err)
		}
		patience := minute
		if strings.HasPrefix(test.want, subprocess.ErrKilled.Error()) {
			patience = 100 * time.Millisecond
		}
		if err := p.Stop(patience); (test.want == "") != (err == nil) || err != nil && err.Error() != test.want {
			t.Errorf("%s: %v, want %q", test.script, err, test.want)
		}
		if p.Ended() == "" {
			t.Errorf("%s: it runs on", test.script)
		}
		if err := p.Stop(minute); !errors.Is(err, subprocess.ErrEnded) {
			t.Errorf("%s: once more: %v", test.script, err)
		}
	}
}

// A signal to a process group meets what the process has started.
func TestGroup(t *testing.T) {
	t.Parallel()
	cmd := shell("(echo ready; " + forever + "; echo child >&2) & wait")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p := startProcess(t, cmd)
	if err := p.Prints(t.Context(), 1, regexp.MustCompile("ready")); err != nil {
		t.Fatal(err)
	}
	p.Kill()
	for end := time.Now().Add(minute); syscall.Kill(-p.PID(), 0) == nil; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("its child runs on")
		}
	}
}

func TestWait(t *testing.T) {
	t.Parallel()
	p := startProcess(t, shell("exit 0"))
	if err := p.Wait(t.Context()); err != nil {
		t.Error(err)
	}
	if cpu, err := p.CPU(); err != nil || cpu <= 0 {
		t.Errorf("its time: %v, %v", cpu, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p = startProcess(t, shell(forever))
	if err := p.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("of one that runs: %v", err)
	}
	if _, err := subprocess.Start(exec.Command("/no/such/program")); err == nil || !strings.Contains(err.Error(), "/no/such/program") {
		t.Errorf("of one that is not there: %v", err)
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Log("not checked: only Linux says it")
		return
	}
	p := startProcess(t, shell("echo ready; "+forever))
	if err := p.Prints(t.Context(), 1, regexp.MustCompile("ready")); err != nil {
		t.Fatal(err)
	}
	if status, err := p.Status(); err != nil || status.VmRSS < 1<<16 || status.VmHWM < status.VmRSS || status.VmHWM > 1<<30 {
		t.Errorf("RSS %d, peak %d, %v; want bytes", status.VmRSS, status.VmHWM, err)
	}
	if _, err := p.CPU(); err != nil {
		t.Error(err)
	}
}

// What a program does not do ends the test, which then shows what it has printed.
func TestProgram(t *testing.T) {
	t.Parallel()
	const moment = 100 * time.Millisecond
	for _, test := range []struct {
		script, want string
		do           func(p *subprocess.Program)
	}{
		{"echo ready.; " + forever, "", func(p *subprocess.Program) { p.WaitFor("ready."); p.Signal(syscall.SIGKILL); p.Exit() }},
		{"echo ready; exit 3", `0 of 1 lines like "ready\\."`, func(p *subprocess.Program) { p.WaitFor("ready.") }},
		{"echo ready; " + forever, `1 of 2 lines like "(?m)^ready$": context deadline exceeded`, func(p *subprocess.Program) { p.Prints(2, "(?m)^ready$") }},
		{"echo ready; trap 'exit 3' TERM; " + forever, "want exit code 0: exit status 3", func(p *subprocess.Program) { p.WaitFor("ready"); p.Stop() }},
		{"echo ready; exit 0", "want exit code 0: " + subprocess.ErrEnded.Error(), func(p *subprocess.Program) { p.Exit(); p.Stop() }},
		{"echo ready; " + forever, "does not end", func(p *subprocess.Program) { p.WaitFor("ready"); p.Exit() }},
		{"echo ready; exit 0", "process already finished", func(p *subprocess.Program) { p.Exit(); p.Signal(syscall.SIGINT) }},
	} {
		deadline := minute
		if strings.Contains(test.want, "deadline") || strings.Contains(test.want, "does not end") {
			deadline = moment
		}
		var p *subprocess.Program
		f := playTest(t, func(f *fakeT) {
			p = subprocess.Run(f, shell(test.script), deadline)
			test.do(p)
		})
		if p.Ended() == "" {
			t.Errorf("%s: it runs on", test.script)
		}
		if !strings.Contains(f.complained, test.want) || (f.complained == "") != (test.want == "") {
			t.Errorf("%s: %q, want %q", test.script, f.complained, test.want)
		}
		if shown := strings.Contains(f.printed, "printed:\nready"); shown != f.Failed() {
			t.Errorf("%s: logged %q", test.script, f.printed)
		}
	}
	p := subprocess.Run(t, shell("exit 7"), minute)
	if code := p.Exit(); code != 7 {
		t.Errorf("exit code %d, want 7", code)
	}
}
