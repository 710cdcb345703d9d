package stage

import (
	"os"
	"strings"
	"testing"
	"time"
)

// start starts a shell as the program, and ends it with the test.
func start(t *testing.T, script string) *program {
	t.Helper()
	p, err := Command{Args: []string{"sh", "-c", script, "sh", "{kubeconfig}"}, Dir: t.TempDir()}.start("/the/file")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return p
}

func (p *program) says(t *testing.T, text string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !strings.Contains(p.tail.Lines(100), text); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it does not print %q, but:\n%s", text, p.tail.Lines(100))
		}
	}
}

// The path of the kubeconfig is in the environment, and replaces {kubeconfig} in the command.
func TestKubeconfig(t *testing.T) {
	start(t, `echo "$KUBECONFIG is $1."; sleep 1000`).says(t, "/the/file is /the/file.")
}

// No child is left, however a program ends.
func TestNothingIsLeft(t *testing.T) {
	for _, test := range []struct{ reason, script, remark string }{
		{"it ends when it is asked to", `echo ready; exec sleep 1000`, ""},
		{"it ignores SIGTERM", `trap "" TERM; echo ready; while :; do sleep 1; done`, "keeps running"},
		{"a child leaves the group and lives on", `setsid sh -c 'trap "" TERM; echo ready; while :; do sleep 1; done' & wait`, "leaves processes behind"},
		{"it prints without end", `head -c 100000 /dev/zero; while :; do echo more and more ready; done`, ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			t.Parallel()
			p := start(t, test.script)
			p.says(t, "ready")
			if remark := p.Stop(3 * time.Second); !strings.HasPrefix(remark, test.remark) || test.remark == "" && remark != "" {
				t.Errorf("the remark is %q, want %q", remark, test.remark)
			}
			if left := p.processes(); len(left) > 0 {
				t.Errorf("%d processes are left", len(left))
			}
			if kept := len(p.tail.kept); kept > tailSize {
				t.Errorf("%d bytes of output are kept", kept)
			}
			if shown := strings.Count(p.tail.Lines(1), "\n"); shown > 3 {
				t.Errorf("%d lines are shown, want the first two and the last", shown)
			}
		})
	}
}

// A missing command is reported before a control plane starts.
func TestCheckCommand(t *testing.T) {
	for _, args := range [][]string{nil, {"/no/such/program"}} {
		if CheckCommand(args) == nil {
			t.Errorf("%v is taken for a command", args)
		}
	}
	if err := CheckCommand([]string{os.Args[0]}); err != nil {
		t.Error(err)
	}
}
