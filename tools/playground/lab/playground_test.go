package lab_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"example.com/byhand/internal/observe/trace"
	"example.com/byhand/internal/tests/quiet"
	"example.com/byhand/tools/playground/lab"
)

// visit is a visitor in a cluster in which time passes only when all goroutines wait.
type visit struct {
	*testing.T
	*lab.Playground
	mu   sync.Mutex
	said []lab.Said
	from []string // the replicas whose steps were received, and "gone"
	seen string   // what the steps say
	// wrote are the received writes, without status writes, each with its writer.
	wrote []string
}

// inTheCluster calls do in a new cluster.
func inTheCluster(t *testing.T, do func(v *visit)) {
	t.Helper()
	// One of these sleeps by a clock outside the bubble.
	utilruntime.ErrorHandlers = nil
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(quiet.Context(t))
		defer cancel()
		v := &visit{T: t}
		v.Playground = lab.New(ctx, v.hear)
		v.passes() // until the first replica leads
		do(v)
		cancel()
		time.Sleep(time.Minute) // until all timers have ended
	})
}

func (v *visit) hear(kind string, body any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch body := body.(type) {
	case lab.Said:
		v.said = append(v.said, body)
	case lab.News:
		for _, step := range body.Steps {
			v.write(step)
			v.seen += fmt.Sprintf("%s %s %s: %s\n", step.Part, step.What, step.Kind, step.Text)
		}
	case *trace.Step:
		v.write(body)
	case lab.Hello:
		v.from = append(v.from, body.Process)
	case nil:
		v.from = append(v.from, kind)
	}
}

// write records a step if it is a write, but not of a status. The caller holds the mutex.
func (v *visit) write(step *trace.Step) {
	if step.Part != "server" || strings.HasSuffix(step.Request.Path, "/status") {
		return
	}
	_, name, _ := strings.Cut(step.Key, "/")
	write := fmt.Sprintf("%s: %s %s %s %d", step.Text, step.Request.Method, step.Kind, name, step.Request.Status)
	var spec struct{ Replicas *int }
	if _ = json.Unmarshal([]byte(step.Request.Reply), &spec); spec.Replicas != nil {
		write += fmt.Sprint(" ", *spec.Replicas)
	}
	v.wrote = append(v.wrote, write)
}

func (v *visit) processes() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.from)
}

// passes lets time pass until the cluster is quiet.
func (v *visit) passes() {
	time.Sleep(30 * time.Second)
	synctest.Wait() // The received messages can be read without the mutex.
}

// does executes commands, and lets time pass after each, but little after a command that ends in &.
func (v *visit) does(commands ...string) {
	v.Helper()
	for _, command := range commands {
		command, inTheMiddle := strings.CutSuffix(command, " &")
		v.Do(command)
		v.mu.Lock()
		if last := v.said[len(v.said)-1]; last.Refused {
			v.Errorf("%s: %s", command, last.Answer)
		}
		v.mu.Unlock()
		if inTheMiddle {
			time.Sleep(500 * time.Millisecond) // half the time that a slow server takes
		} else {
			v.passes()
		}
	}
}

// table is kubectl's, with a line for each object.
func (v *visit) table() (lines []string) {
	state := v.State()
	for _, row := range append(state.Foos, state.Deployments...) {
		lines = append(lines, strings.TrimSpace(strings.Join(row, " ")))
	}
	return lines
}

const (
	ready      = "one one 2 2 True Available"
	deployment = "one 2/2 2 nginx:1.29 Foo one"
)

// Each command of a visitor leads to the expected reaction of the program.
func TestCommands(t *testing.T) {
	for name, test := range map[string]struct {
		commands string // with a Foo one of two replicas
		want     []string
	}{
		"create":               {"create other else 1", []string{ready, "other else 1 1 True Available", "else 1/1 1 nginx:1.29 Foo other", deployment}},
		"scale":                {"scale one 3", []string{"one one 3 3 True Available", "one 3/3 3 nginx:1.29 Foo one"}},
		"rename":               {"rename one new", []string{"one new 2 2 True Available", "new 2/2 2 nginx:1.29 Foo one"}},
		"delete":               {"delete one background", nil},
		"foreground":           {"delete one foreground", nil},
		"orphan":               {"delete one orphan", []string{"one 2/2 2 nginx:1.29"}},
		"image":                {"set-image one nginx:1.0", []string{ready, deployment}},
		"name taken":           {"take-name new; rename one new", []string{"one new 2 2 False NameTaken", "new 1/1 1 theirs:1", deployment}},
		"cut":                  {"cut; scale one 3", []string{"one one 3 3 True Available", "one 3/3 3 nginx:1.29 Foo one"}},
		"hold":                 {"hold on; scale-deployment one 7", []string{ready, "one 7/7 7 nginx:1.29 Foo one"}},
		"hold and release":     {"hold on; scale-deployment one 7; hold off", []string{ready, deployment}},
		"quota":                {"quota on; delete-deployment one", []string{"one one 2 0 False Forbidden"}},
		"webhook":              {"webhook on; scale one 3", []string{"one one 3 2 False RequestFailed", deployment}},
		"slow":                 {"slow on; scale one 3", []string{"one one 3 3 True Available", "one 3/3 3 nginx:1.29 Foo one"}},
		"killed in the middle": {"slow on; scale one 3 &; kill", []string{"one one 3 2 True Available", deployment}},
		"killed and back":      {"kill; scale one 3; start", []string{"one one 3 3 True Available", "one 3/3 3 nginx:1.29 Foo one"}},
		"another takes over":   {"start; kill; scale one 3", []string{"one one 3 3 True Available", "one 3/3 3 nginx:1.29 Foo one"}},
		"deaf to deletion":     {"bug deaf-to-deletion; delete-deployment one", []string{ready}},
		"deaf to names":        {"bug deaf-to-names; take-name new; rename one new; delete-deployment new", []string{"one new 2 2 False NameTaken", deployment}},
		"no retry":             {"bug no-retry; quota on; delete-deployment one; quota off", []string{"one one 2 0 False Forbidden"}},
		"no owner":             {"bug no-owner; create other else 1; delete other background", []string{ready, "else 1/1 1 nginx:1.29", deployment}},
		"no rename":            {"bug no-rename; rename one new", []string{"one new 2 2 True Available", "new 2/2 2 nginx:1.29 Foo one", deployment}},
		"deletes first":        {"bug deletes-first; quota on; rename one new", []string{"one new 2 0 False Forbidden"}},
		"exits":                {"bug exits-on-5xx; webhook on; scale one 3; webhook off", []string{"one one 3 3 True Available", "one 3/3 3 nginx:1.29 Foo one"}},
		"edge: missed":         {"bug edge-triggered; stop; scale one 4; start; scale one 5", []string{"one one 5 3 False WaitingForReplicas", "one 3/3 3 nginx:1.29 Foo one"}},
		"edge: deleted":        {"bug edge-triggered; delete-deployment one; scale one 3", []string{"one one 3 0 False WaitingForReplicas"}},
		"the bug is fixed":     {"bug deaf-to-deletion; delete-deployment one; bug none", []string{ready, deployment}},
	} {
		t.Run(name, func(t *testing.T) {
			inTheCluster(t, func(v *visit) {
				v.does("create one one 2")
				v.does(strings.Split(test.commands, "; ")...)
				if d := cmp.Diff(test.want, v.table()); d != "" {
					v.Errorf("the table (-want +got):\n%s", d)
				}
			})
		})
	}
}

// A command is untrusted text. A rejected one says why, and changes nothing.
func TestRefusals(t *testing.T) {
	inTheCluster(t, func(v *visit) {
		before := fmt.Sprint(v.State())
		for text, why := range map[string]string{
			"":                    "no such command",
			"drop tables":         "no such command",
			"create a a 1 1":      "every field",
			"create a a 11":       "from 0 to 10",
			`create a","x":" a 1`: "small letters",
			"scale ../pods 1":     "small letters",
			"create " + strings.Repeat("a", 41) + " a 1": "1 to 40",
			"delete a Never": "every field",
			"scale a 1":      `Error from server (NotFound): foos.samplecontroller.k8s.io "a" not found`,
		} {
			v.Do(text)
			if last := v.said[len(v.said)-1]; !last.Refused || !strings.Contains(last.Answer, why) {
				t.Errorf("%q is answered %q, want %q in it", text, last.Answer, why)
			}
		}
		if d := cmp.Diff(before, fmt.Sprint(v.State())); d != "" {
			t.Errorf("rejected commands changed the state:\n%s", d)
		}
	})
}

// Only the leader's steps are passed on. A killed process does not release its Lease, and a process
// that exits is restarted.
func TestWhoseStepsAreTold(t *testing.T) {
	inTheCluster(t, func(v *visit) {
		v.does("start", "kill &")
		time.Sleep(2 * time.Second) // The Lease is valid for one more second.
		if from := v.processes(); len(from) != 2 {
			t.Errorf("the leader was killed, and at once another process leads: %s", from)
		}
		v.passes()
		v.does("kill", "start")
		if d := cmp.Diff([]string{"controller-1", "gone", "controller-2", "gone", "controller-3"}, v.processes()); d != "" {
			t.Errorf("the processes that were told (-want +got):\n%s", d)
		}
		v.Do("bug no-owner") // whose process has no Lease yet when the next bug comes
		v.does("bug exits-on-5xx", "webhook on", "create one one 1")
		if from := fmt.Sprint(v.processes()); strings.Count(from, "gone") < 3 {
			t.Errorf("with a webhook that is down the program has not ended again and again: %s", from)
		}
	})
}

// After a compaction the informers list again.
func TestForget(t *testing.T) {
	inTheCluster(t, func(v *visit) {
		v.does("create one one 1", "cut")
		v.seen = ""
		v.does("forget")
		if !strings.Contains(v.seen, "store relisted Foo") {
			t.Errorf("nothing was listed again:\n%s", v.seen)
		}
	})
}

// Each write is shown with its writer and the resulting spec: a correction, a rejection, a conflict
// with another client, and a garbage collection.
func TestWrites(t *testing.T) {
	for name, test := range map[string]struct{ commands, want string }{
		"corrected":  {"scale-deployment one 7", "you: PATCH Deployment one 200 7; controller-1: PUT Deployment one 200 2"},
		"restored":   {"delete-deployment one", "you: DELETE Deployment one 200; controller-1: POST Deployment one 201 2"},
		"after kill": {"kill; scale-deployment one 5; scale-deployment one 9; start", "you: PATCH Deployment one 200 5; you: PATCH Deployment one 200 9; controller-2: PUT Deployment one 200 2"},
		"refused":    {"quota on; delete-deployment one &; quota off", "you: DELETE Deployment one 200; controller-1: POST Deployment  403"},
		"conflict":   {"busy on; scale one 4", "you: PATCH Foo one 200 4; another client: PATCH Deployment one 200; controller-1: PUT Deployment one 409; controller-1: PUT Deployment one 200 4"},
		"collected":  {"delete one background", "you: DELETE Foo one 200; the garbage collector: DELETE Deployment one 200"},
		"no answer":  {"lose on; scale one 4", "you: PATCH Foo one 200 4; controller-1: PUT Deployment one 200 4"},
	} {
		t.Run(name, func(t *testing.T) {
			inTheCluster(t, func(v *visit) {
				v.does("create one one 2")
				v.wrote = nil
				v.does(strings.Split(test.commands, "; ")...)
				if got := strings.Join(v.wrote, "; "); !strings.HasPrefix(got, test.want) {
					t.Errorf("the writes are\n%s\nwant\n%s", got, test.want)
				}
			})
		})
	}
}

// The state shows delays: the events that a held watch has not delivered, the store meanwhile, and how
// long a Lease still holds. reset clears them.
func TestWhatWaits(t *testing.T) {
	inTheCluster(t, func(v *visit) {
		v.does("create one one 2", "start")
		v.Do("hold on")
		v.does("scale-deployment one 5")
		if state := v.State(); state.Held == 0 || state.Store["one"] != "2" {
			t.Errorf("with a held watch the state is %+v", state)
		}
		v.Do("kill")
		if left := time.Until(time.UnixMilli(v.State().Lease)); left <= 6*time.Second || left > 8*time.Second {
			t.Errorf("the Lease of a leader that was killed holds for another %s", left)
		}
		v.does("bug no-retry", "quota on", "reset")
		state := v.State()
		if len(state.Foos)+len(state.Deployments)+state.Held != 0 || len(state.Replicas) != 1 || state.Bug != "none" || state.On["quota"] || state.On["hold"] || state.Lease != 0 {
			t.Errorf("after reset: %+v", state)
		}
		v.does("create one one 2")
		if d := cmp.Diff([]string{ready, deployment}, v.table()); d != "" {
			t.Errorf("the table (-want +got):\n%s", d)
		}
	})
}
