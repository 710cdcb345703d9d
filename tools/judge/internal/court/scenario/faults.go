package scenario

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/internal/tests/oracle"
	"example.com/byhand/kit/testkit"
	"example.com/byhand/tools/judge/internal/court/stage"
	"example.com/byhand/tools/judge/internal/court/verdict"
)

// AtWrite injects a fault into the program's n-th write.
func AtWrite(n int, fault testkit.Fault) stage.Step {
	return func(s *stage.Stage) {
		var writes atomic.Int64
		s.Proxy.OnWrite(func(_ int, r *http.Request) testkit.Fault {
			if !stage.Spared(testkit.TargetOf(r.URL.Path)) && writes.Add(1) == int64(n) {
				return fault
			}
			return testkit.Pass
		})
	}
}

// Held takes steps while the watches of a resource deliver nothing, and holds them for d after that.
func Held(d time.Duration, resource string, steps ...stage.Step) stage.Step {
	return func(s *stage.Stage) {
		defer s.Proxy.HoldWatches(resource)()
		if resource == "foos" {
			defer blinded(s, time.Now())
		}
		s.Take(append(steps, Wait(d))...)
	}
}

// blinded records that the program could not see the Foos since from.
func blinded(s *stage.Stage, from time.Time) {
	s.Blind = append(s.Blind, verdict.Blindness{From: from, To: time.Now()})
}

// Disturbed takes steps while disturb handles the program's requests, for at least d. Spared requests pass.
// Stage.Met counts the requests that disturb has handled.
func Disturbed(d time.Duration, disturb Disturbance, steps ...stage.Step) stage.Step {
	return func(s *stage.Stage) {
		begin, handle := time.Now(), disturb(s)
		s.Proxy.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
			met := !stage.Spared(testkit.TargetOf(r.URL.Path)) && handle(w, r)
			if met {
				s.Met.Add(1)
			}
			return met
		})
		defer s.Proxy.Intercept(nil)
		defer blinded(s, begin)
		s.Take(steps...)
		s.Pause(d - time.Since(begin))
	}
}

// fewFailures fails if the number of requests rejected since a time exceeds most: P7.
func fewFailures(s *stage.Stage, since time.Time, most int) {
	if failed := s.Failed(since); len(failed) > most {
		s.Find(verdict.Found(P7, verdict.Flood, time.Now(), "In %s %d requests of the program were rejected; a program with an exponential back-off sends at most %d.",
			time.Since(since).Round(time.Second), len(failed), most))
	}
}

// Few takes steps, and fails if the number of requests rejected meanwhile exceeds most.
func Few(most int, steps ...stage.Step) stage.Step {
	return func(s *stage.Stage) {
		begin := time.Now()
		s.Take(steps...)
		fewFailures(s, begin, most)
	}
}

// opposed takes steps while another controller keeps setting a Deployment's replicas to one.
func opposed(name string, steps ...stage.Step) stage.Step {
	return Meanwhile(5*time.Millisecond, func(s *stage.Stage) {
		if d := s.History.Deployment(name); d != nil && oracle.Replicas(d) != 1 {
			patchDeployment(name, stage.Object{"spec": stage.Object{"replicas": 1}})(s)
		}
	}, steps...)
}

// Meanwhile takes steps while it repeats do, even if do fails.
func Meanwhile(pause time.Duration, do stage.Step, steps ...stage.Step) stage.Step {
	return func(s *stage.Stage) {
		ctx, stop := context.WithCancel(s.Ctx)
		var doing sync.WaitGroup
		doing.Go(func() {
			for ctx.Err() == nil {
				_ = stage.Try(func() { do(s) })
				time.Sleep(pause)
			}
		})
		defer doing.Wait()
		defer stop()
		s.Take(steps...)
	}
}

// withoutBookmark restarts the program. No streaming list gets its bookmark. The program must serve a new
// Foo, or exit, within the bound.
func withoutBookmark(bound time.Duration) stage.Step {
	return func(s *stage.Stage) {
		s.Proxy.Intercept(bookmarkless)
		defer s.Proxy.Intercept(nil)
		s.Tolerant.Store(true)
		defer s.Tolerant.Store(false)
		s.KillPrograms()
		stage.Check(s.StartProgram())
		createFoo("b", "b", 1)(s)
		s.Within(bound, func() bool {
			return len(s.Running()) == 0 || !s.History.Behind() && len(s.History.Wrong()) == 0
		}, func() verdict.Finding {
			return verdict.Found(P1, verdict.Waiting, time.Now(), "The program was started behind a proxy that loses bookmarks. After %s Foo b is not reconciled, and the program still runs.", bound)
		})
	}
}

// tells waits until a Foo's Deployment has this many available replicas and the Foo's status reports them.
// Other parts of the state may be wrong.
func tells(name string, available int32) stage.Step {
	return func(s *stage.Stage) {
		var foo *v1alpha1.Foo
		var has int32
		s.Within(s.Bound, func() bool {
			foo, has = s.History.Foo(name), 0
			if d := s.History.Deployment(foo.Spec.DeploymentName); d != nil {
				has = d.Status.AvailableReplicas
			}
			return has == available && foo.Status.AvailableReplicas == available
		}, func() verdict.Finding {
			return verdict.Found(P1, verdict.Untold, time.Now(), "Deployment %s has %d available replicas (expected: %d). The status of Foo %s (revision %s) says %d, even after %s.",
				foo.Spec.DeploymentName, has, available, name, foo.ResourceVersion, foo.Status.AvailableReplicas, s.Bound)
		})
	}
}

// Gone rejects watches that start at an older version than the current one (410 Gone). It ends no watch, see Cut.
func Gone(s *stage.Stage) { s.Proxy.Intercept(gone(s)) }

func gone(s *stage.Stage) handler {
	now, _ := strconv.ParseUint(Version(s), 10, 64)
	return func(w http.ResponseWriter, r *http.Request) bool {
		query := r.URL.Query()
		from, err := strconv.ParseUint(query.Get("resourceVersion"), 10, 64)
		old := err == nil && from > 0 && from < now && query.Get("watch") != "" && query.Get("sendInitialEvents") == ""
		return old && slices.Contains(s.Resources(), testkit.TargetOf(r.URL.Path).Resource) && refuse(w, http.StatusGone)
	}
}

// foosFirst is Gone while Deployments are still unreadable: the relisted Foos are reconciled before the
// deletion of a Deployment is seen, so those reconciles do not notice it.
func foosFirst(s *stage.Stage) handler {
	gone, unreadable := gone(s), Unreadable(s)
	return func(w http.ResponseWriter, r *http.Request) bool {
		return testkit.TargetOf(r.URL.Path).Resource == "deployments" && unreadable(w, r) || gone(w, r)
	}
}

// Cut ends the open watches in the middle of their streams.
func Cut(s *stage.Stage) {
	for _, resource := range s.Resources() {
		s.Proxy.CutWatches(resource)
	}
}

// staleStart takes steps, and restarts the program with lists from before the steps: see StartAsOf.
func staleStart(d time.Duration, streaming bool, steps ...stage.Step) stage.Step {
	return func(s *stage.Stage) {
		before := Version(s)
		s.Take(steps...)
		StartAsOf(s, before, d, streaming)
	}
}

// Version returns the current resourceVersion of the storage.
func Version(s *stage.Stage) string {
	return stage.Must(s.Foos(s.Namespace).List(s.Ctx, metav1.ListOptions{})).GetResourceVersion()
}

// StartAsOf kills the program and restarts it. Lists of the user's objects that allow old data
// (resourceVersion=0) have this version; for streaming see travel. For d their watches deliver nothing newer.
func StartAsOf(s *stage.Stage, version string, d time.Duration, streaming bool) {
	for _, resource := range s.Users() {
		defer s.Proxy.HoldWatches(resource)()
	}
	s.Proxy.Intercept(travel(s, version, streaming))
	defer s.Proxy.Intercept(nil)
	s.KillPrograms()
	stage.Check(s.StartProgram())
	s.Take(Wait(d))
}

// Contended takes steps while another client keeps writing every Foo and Deployment, for at least d.
func Contended(d time.Duration, steps ...stage.Step) stage.Step {
	return func(s *stage.Stage) {
		i, end := 0, time.Now().Add(d)
		Meanwhile(20*time.Millisecond, func(s *stage.Stage) {
			i++
			touch(s, i)
		}, func(s *stage.Stage) {
			s.Take(steps...)
			s.Pause(time.Until(end))
		})(s)
	}
}

// touch changes an annotation of each Foo and Deployment, or of each object that a script compares.
func touch(s *stage.Stage, i int) {
	if !s.Judge.Foos() {
		_, objects := s.Look()
		for _, o := range objects {
			_, err := s.Client(o.Resource).Patch(s.Ctx, o.GetName(), stage.MergePatch, stage.Encoded(note(i)), metav1.PatchOptions{})
			stage.Check(IgnoreNotFound(err))
		}
		return
	}
	foos, deployments := s.History.Names()
	for _, name := range foos {
		patchFoo(name, note(i))(s)
	}
	for _, name := range deployments {
		patchDeployment(name, note(i))(s)
	}
}

// Note is the annotation that another client writes in touch.
const Note = "example.com/another"

// note returns a patch of the annotation.
func note(i int) stage.Object {
	return stage.Object{"metadata": stage.Object{"annotations": stage.Object{Note: strconv.Itoa(i)}}}
}

// apiServerFrozen stops the API server for d (SIGSTOP).
func apiServerFrozen(d time.Duration) stage.Step {
	return func(s *stage.Stage) {
		stage.Check(apiServer(s.World, syscall.SIGSTOP))
		time.Sleep(d) // An interrupt does not end it: SIGCONT must follow.
		stage.Check(apiServer(s.World, syscall.SIGCONT))
	}
}

// Second starts a second process of the command.
func Second(s *stage.Stage) {
	s.Tolerant.Store(true)
	defer s.Tolerant.Store(false)
	stage.Check(s.StartProgram())
	running := s.Running()
	p := running[len(running)-1]
	begins := 5 * time.Second
	if s.Judge.Contract == nil && s.Judge.Command.Args[0] == "go" {
		begins = 30 * time.Second // It compiles.
	}
	s.Pause(begins)
	if ended := p.Ended(); ended != "" {
		stage.Check(stage.NotJudged(fmt.Sprintf("a second process of the command exits (%s). If both use the same port, let each take a free one (port 0). Its last output:\n%s", ended, p.Words(5))))
	}
}

// KillFirst kills the oldest process with SIGKILL.
func KillFirst(s *stage.Stage) {
	p := s.Running()[0]
	s.Remove(p)
	p.Kill()
}

func served(names ...string) stage.Step {
	return func(s *stage.Stage) {
		waits := ""
		s.Within(s.Bound, func() bool {
			waits = ""
			for _, name := range names {
				f := s.History.Foo(name)
				d := s.History.Deployment(f.Spec.DeploymentName)
				if d == nil || oracle.ControllerOf(d) != f.UID {
					waits = fmt.Sprintf("Foo %s (generation %d) asks for Deployment %s, but does not control it.", name, f.Generation, f.Spec.DeploymentName)
				}
			}
			return waits == ""
		}, func() verdict.Finding {
			return verdict.Found(P1, verdict.Deadlocked, time.Now(), "%s This has not changed in %s.", waits, s.Bound)
		})
	}
}

// renamedBack changes a Foo's deploymentName from its own name to other. It changes the name back just before
// the proxy forwards the program's DELETE of the first Deployment. It fails if that Deployment is deleted.
func renamedBack(name, other string) stage.Step {
	return func(s *stage.Stage) {
		uid := s.History.Deployment(name).UID
		var once sync.Once
		back := make(chan error, 1)
		s.Proxy.Intercept(func(_ http.ResponseWriter, r *http.Request) bool {
			if t := testkit.TargetOf(r.URL.Path); r.Method == http.MethodDelete && t.Resource == "deployments" && t.Name == name {
				once.Do(func() { back <- stage.Try(func() { changeFoo(name, stage.Object{"deploymentName": name})(s) }) })
			}
			return false
		})
		defer s.Proxy.Intercept(nil)
		changeFoo(name, stage.Object{"deploymentName": other})(s)
		s.Needs(s.Bound, func() bool { return len(back) > 0 }, "the program has not sent a DELETE of the Deployment with the earlier name")
		stage.Check(<-back)
		if s.Await(verdict.OnTheWay, func() bool {
			d := s.History.Deployment(name)
			return d == nil || d.UID != uid || d.DeletionTimestamp != nil
		}) {
			s.Find(verdict.Found(P1, verdict.Overtaken, time.Now(), "Foo %s was renamed to Deployment %s, and back to Deployment %s before the API server received the program's DELETE of the latter. The program deleted the Deployment that the Foo asks for.", name, other, name))
		}
	}
}

// FewTries takes steps, and fails if the program meanwhile tries the same write more often than most,
// successful or not. ofStatus selects writes of a status, or all others.
func FewTries(ofStatus bool, most int, why *verdict.Lesson, steps ...stage.Step) stage.Step {
	return func(s *stage.Stage) {
		begin, tried := time.Now(), map[string]int{}
		defer func() { // Also if the steps end the stage.
			for _, w := range s.Tries(begin) {
				if write := w.Method + " " + w.Target.String(); (w.Target.Subresource == "status") == ofStatus {
					if tried[write]++; tried[write] == most+1 {
						s.Find(verdict.Found(P7, why, w.At, "The program sent %s %d times in %s; at most %d are allowed.", write, most+1, w.At.Sub(begin).Round(time.Millisecond), most))
					}
				}
			}
		}()
		s.Take(steps...)
	}
}
