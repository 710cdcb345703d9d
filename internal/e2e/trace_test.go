//go:build integration

package e2e

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/internal/observer"
	"example.com/byhand/internal/trace"
)

// traced is the program with --trace=json, and a Foo that it is watched with.
type traced struct {
	*server
	*program
	key string
	// read is how many steps were looked at.
	read int
}

// steps returns what is traced so far.
func (c *traced) steps() []trace.Step {
	c.server.Helper()
	var recording strings.Builder
	for _, line := range strings.SplitAfter(c.Output(), "\n") {
		// stderr is in it, too, and the last line may be half written.
		if strings.HasPrefix(line, "{") && strings.HasSuffix(line, "\n") {
			recording.WriteString(line)
		}
	}
	steps, err := trace.ReadRecording(strings.NewReader(recording.String()))
	if err != nil {
		c.server.Fatal(err)
	}
	return steps
}

// quiet waits until the Foo's trace has come to rest, and returns its steps since
// the last call: a second Foo that comes and converges afterwards finds it where it
// was.
func (c *traced) quiet(what string) []trace.Step {
	c.server.Helper()
	settled := -1
	for round := 0; ; round++ {
		name := fmt.Sprintf("marker-%s-%d", what, round)
		c.createFoo(name, spec(name, 1))
		c.converges(name, name, 1)
		// Of a Foo that is gone its last event, and those of its Deployment, come late.
		steps := c.of(c.steps())
		if last := steps[len(steps)-1]; len(steps) == settled && last.Part == trace.PartWorker && last.What == trace.Done {
			since := steps[c.read:]
			c.read = len(steps)
			return since
		}
		if settled = len(steps); round == 20 {
			c.server.Fatalf("%s: no end of steps", what)
		}
	}
}

// of returns the steps of the Foo.
func (c *traced) of(steps []trace.Step) (own []trace.Step) {
	for _, step := range steps {
		if step.For == "Foo "+c.key {
			own = append(own, step)
		}
	}
	return own
}

// newTraced starts the program with a token, behind a proxy that calls before with
// each request.
func newTraced(s *server, name, token string, before func(*http.Request)) *traced {
	s.Helper()
	f := s.newFront(s.config)
	f.Intercept(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Authorization") != "Bearer "+token {
			s.Errorf("%s %s has no token", r.Method, r.URL.Path)
		}
		before(r)
		r.Header.Del("Authorization")
		return false
	})
	return &traced{server: s, program: s.controller("--kubeconfig", f.kubeconfig(s.T, token), "--trace=json"), key: s.namespace + "/" + name}
}

// A Foo's whole life, as the trace tells it: each change by its name, what woke
// each reconcile, own writes as echoes, and silence in between.
func TestTrace(t *testing.T) {
	t.Parallel()
	const token = "a-token-that-nobody-may-see"
	s := newServer(t)
	foos := s.client.SamplecontrollerV1alpha1().Foos(s.namespace)
	var interfere atomic.Bool
	c := newTraced(s, "foo", token, func(r *http.Request) {
		// Somebody else is faster, once.
		if r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/foos/foo/status") && interfere.CompareAndSwap(true, false) {
			if _, err := foos.Patch(s.Context(), "foo", types.MergePatchType, []byte(`{"metadata":{"labels":{"somebody":"else"}}}`), metav1.PatchOptions{}); err != nil {
				t.Error(err)
			}
		}
	})

	s.createFoo("foo", spec("first", 1))
	s.converges("foo", "first", 1)
	steps := c.quiet("created")
	const travel = "stream received Foo, store added Foo, queue added Foo, worker got Foo, reconcile started Foo, request sent Deployment"
	if got := path(steps[:6]); got != travel {
		t.Errorf("the Foo's way is\n%s\nwant\n%s", got, travel)
	}
	c.decides(steps, "Foo foo added", "created Deployment first; wrote the status (Ready False, WaitingForReplicas)")
	// Woken by the Deployment, or, if that came while a status was written, by its echo.
	c.decides(steps, "", "wrote the status (Ready True, Available)")
	c.decides(steps, "our own write: ", "nothing to do")

	s.changeFoo("foo", func(spec *v1alpha1.FooSpec) { *spec.Replicas = 3 })
	s.converges("foo", "first", 3)
	c.decides(c.quiet("scaled"), "Foo foo updated", "updated Deployment first")

	interfere.Store(true)
	s.changeFoo("foo", func(spec *v1alpha1.FooSpec) { *spec.Replicas = 2 })
	s.converges("foo", "first", 2)
	steps = c.quiet("conflict")
	c.decides(steps, "", "Conflict, somebody else wrote first; error: ")
	c.decides(steps, "", "wrote the status (Ready True, Available)")

	s.changeFoo("foo", func(spec *v1alpha1.FooSpec) { spec.DeploymentName = "second" })
	s.converges("foo", "second", 2)
	s.eventually("the old Deployment goes", func() error { _, err := s.deployment("first"); return gone(err) })
	c.decides(c.quiet("renamed"), "Foo foo updated", "created Deployment second; asked the server for Foo foo; deleted Deployment first; wrote the status")

	if err := foos.Delete(t.Context(), "foo", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	s.eventually("the Deployment goes", func() error { _, err := s.deployment("second"); return gone(err) })
	c.decides(c.quiet("deleted"), "Foo foo deleted", "nothing to do")

	c.Stop()
	all := c.steps()
	// The watches end at the same time, before or after.
	if !slices.ContainsFunc(all, func(step trace.Step) bool { return step.What == trace.Stopped }) {
		t.Error("the end is not traced")
	}
	c.consistent(all)
	if strings.Contains(c.Output(), token) {
		t.Error("the token is in the trace")
	}
}

func path(steps []trace.Step) string {
	var path []string
	for _, step := range steps {
		path = append(path, fmt.Sprintf("%s %s %s", step.Part, step.What, step.Kind))
	}
	return strings.Join(path, ", ")
}

// decides fails the test unless one reconcile among the steps was woken by this
// cause and ended with these words.
func (c *traced) decides(steps []trace.Step, cause, words string) {
	c.server.Helper()
	started := map[int64]string{}
	var all []string
	for _, step := range steps {
		switch {
		case step.Part != trace.PartReconcile:
		case step.What == trace.Started:
			started[step.Seq] = step.Cause
		default:
			if strings.Contains(started[step.CauseSeq], cause) && strings.Contains(step.Text, words) {
				return
			}
			all = append(all, started[step.CauseSeq]+" → "+step.Text)
		}
	}
	c.server.Errorf("no reconcile because of %q came to %q:\n%s", cause, words, strings.Join(all, "\n"))
}

// grammar is what a worker does, again and again.
var grammar = regexp.MustCompile(`^(worker got, reconcile started, (request sent, request answered, )*reconcile (ended|failed), (queue (delayed|limited|forgot), )*worker done, )*$`)

// consistent fails the test unless each step has the steps before it that it must
// have.
func (c *traced) consistent(all []trace.Step) {
	c.server.Helper()
	bySeq, written, heard, seen := map[int64]trace.Step{}, map[string]time.Time{}, map[string]time.Time{}, map[string]bool{}
	var work strings.Builder
	for i, step := range all {
		if step.Seq != int64(i+1) {
			c.server.Fatalf("step %d is missing", i+1)
		}
		bySeq[step.Seq] = step
		if step.CauseSeq >= step.Seq {
			c.server.Errorf("step %d is caused by step %d", step.Seq, step.CauseSeq)
		}
		object := step.Kind + " " + step.Key + " " + step.Version
		switch {
		case step.Part == trace.PartRequest && step.What == trace.Answered && step.Version != "" && step.Request.Method != http.MethodGet:
			written[object] = step.Time
		case step.Part == trace.PartStore && step.Echo:
			seen[object] = true
		case step.Part == trace.PartStore:
			heard[object] = step.Time
		}
		if step.For != "Foo "+c.key {
			continue
		}
		woken := bySeq[step.CauseSeq]
		known := step.Cause != observer.AddedAsTaken
		if step.What == trace.Got && known && (woken.For != "Foo "+c.key || woken.Part != trace.PartStore && woken.What != trace.Delayed && woken.What != trace.Limited) {
			c.server.Errorf("step %d: the key is taken because of step %d, %s %s for %s (%q)", step.Seq, woken.Seq, woken.Part, woken.What, woken.For, step.Cause)
		}
		switch step.What {
		case trace.Got, trace.Started, trace.Sent, trace.Answered, trace.Ended, trace.Failed, trace.Delayed, trace.Limited, trace.Forgot, trace.Done:
			fmt.Fprintf(&work, "%s %s, ", step.Part, step.What)
		}
	}
	if !grammar.MatchString(work.String()) {
		c.server.Errorf("the workers' steps are out of order: %s", work.String())
	}
	for object, answered := range written {
		// Of an event that overtakes the answer by more than 20 ms the observer cannot know.
		late := !heard[object].IsZero() && answered.Sub(heard[object]) > 15*time.Millisecond
		if !seen[object] && !late {
			c.server.Errorf("%s was written, and its event is no echo", object)
		}
	}
	for object := range seen {
		if written[object].IsZero() && !strings.HasPrefix(object, "Deployment "+c.server.namespace+"/first ") {
			c.server.Errorf("%s is told as our own write, and is not", object)
		}
	}
}
