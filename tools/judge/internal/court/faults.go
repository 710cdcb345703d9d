package court

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/internal/tests/oracle"
	"example.com/byhand/kit/testkit"
)

// atWrite makes a fault happen to the n-th write of the program.
func atWrite(n int, fault testkit.Fault) step {
	return func(s *stage) {
		s.proxy.OnWrite(func(i int, _ *http.Request) testkit.Fault {
			if i == n {
				return fault
			}
			return testkit.Pass
		})
	}
}

// held takes steps while the watches of resources deliver nothing, and holds them for some
// time after that.
func held(d time.Duration, resource string, steps ...step) step {
	return func(s *stage) {
		defer s.proxy.HoldWatches(resource)()
		if resource == "foos" {
			defer s.blinded(time.Now())
		}
		s.take(append(steps, wait(d))...)
	}
}

// blinded notes that the program could not see the Foos since a moment.
func (s *stage) blinded(from time.Time) {
	s.blind = append(s.blind, blindness{from, time.Now()})
}

// disturbed takes steps while disturb has its way with the requests of the program, for
// some time at least. Leases and other locks are spared: who loses one has to end.
func disturbed(d time.Duration, disturb func(*stage) handler, steps ...step) step {
	return func(s *stage) {
		begin, handle := time.Now(), disturb(s)
		s.proxy.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
			return !s.judge.isLock(testkit.TargetOf(r.URL.Path)) && handle(w, r)
		})
		defer s.proxy.Intercept(nil)
		defer s.blinded(begin)
		s.take(steps...)
		s.pause(d - time.Since(begin))
	}
}

// fewFailures fails if more than so many requests were refused since a moment: P7.
func (s *stage) fewFailures(since time.Time, most int) {
	if failed := s.failed(since); len(failed) > most {
		s.find(found(P7, flood, time.Now(), "In %s the program has sent %d requests that were refused; a program that doubles its pauses sends %d at most.",
			time.Since(since).Round(time.Second), len(failed), most))
	}
}

// few takes steps, and fails if more than so many requests were refused meanwhile.
func few(most int, steps ...step) step {
	return func(s *stage) {
		begin := time.Now()
		s.take(steps...)
		s.fewFailures(begin, most)
	}
}

// opposed takes steps while another controller gives a Deployment one replica, whoever has given it others.
func opposed(name string, steps ...step) step {
	return meanwhile(5*time.Millisecond, func(s *stage) {
		if d := s.history.deployment(name); d != nil && oracle.Replicas(d) != 1 {
			patchDeployment(name, object{"spec": object{"replicas": 1}})(s)
		}
	}, steps...)
}

// meanwhile takes steps while something is done again and again, whether it fails or not.
func meanwhile(pause time.Duration, do step, steps ...step) step {
	return func(s *stage) {
		ctx, stop := context.WithCancel(s.ctx)
		var doing sync.WaitGroup
		doing.Go(func() {
			for ctx.Err() == nil {
				_ = try(func() { do(s) })
				time.Sleep(pause)
			}
		})
		defer doing.Wait()
		defer stop()
		s.take(steps...)
	}
}

// withoutBookmark starts the program anew, and no streaming list gets its bookmark. The program must
// serve a new Foo, or end, before a time is over.
func withoutBookmark(bound time.Duration) step {
	return func(s *stage) {
		s.proxy.Intercept(bookmarkless)
		defer s.proxy.Intercept(nil)
		s.tolerant.Store(true)
		defer s.tolerant.Store(false)
		s.killPrograms()
		check(s.startProgram())
		createFoo("b", "b", 1)(s)
		s.within(bound, func() bool {
			return len(s.running()) == 0 || !s.history.behind() && len(s.history.wrong()) == 0
		}, func() finding {
			return found(P1, waiting, time.Now(), "The program was started behind a proxy that loses bookmarks. After %s it has not served Foo b, and still runs.", bound)
		})
	}
}

// tells waits until a Foo's status says so many available replicas, which is what its
// Deployment has, though other things are not as they must be.
func tells(name string, available int32) step {
	return func(s *stage) {
		var foo *v1alpha1.Foo
		var has int32
		s.within(s.bound, func() bool {
			foo, has = s.history.foo(name), 0
			if d := s.history.deployment(foo.Spec.DeploymentName); d != nil {
				has = d.Status.AvailableReplicas
			}
			return has == available && foo.Status.AvailableReplicas == available
		}, func() finding {
			return found(P1, untold, time.Now(), "Deployment %s has %d available replicas (expected: %d). The status of Foo %s (revision %s) says %d. It is still so after %s.",
				foo.Spec.DeploymentName, has, available, name, foo.ResourceVersion, foo.Status.AvailableReplicas, s.bound)
		})
	}
}

// gone ends the watches and refuses to resume them: 410 Gone for every version up to now.
func gone(s *stage) {
	now, _ := strconv.ParseUint(s.version(), 10, 64)
	s.proxy.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
		query := r.URL.Query()
		from, err := strconv.ParseUint(query.Get("resourceVersion"), 10, 64)
		old := err == nil && from > 0 && from < now && query.Get("watch") != "" && query.Get("sendInitialEvents") == ""
		return old && slices.Contains(s.resources(), testkit.TargetOf(r.URL.Path).Resource) && refuse(w, http.StatusGone)
	})
}

// cut ends the open watches in the middle of their stream.
func cut(s *stage) {
	for _, resource := range s.resources() {
		s.proxy.CutWatches(resource)
	}
}

// staleStart takes steps, starts the program anew, and answers its first list of the user's objects as of
// before these steps. Only a list that allows an old answer (resourceVersion=0) gets one.
// Streaming lists are passed on, or refused as by an API server that has none. For some time
// their watch brings nothing newer, and no streaming list.
func staleStart(d time.Duration, streaming bool, steps ...step) step {
	return func(s *stage) {
		before := s.version()
		s.take(steps...)
		s.startAsOf(before, d, streaming)
	}
}

// version is that of the whole storage.
func (s *stage) version() string {
	return must(s.foos(s.namespace).List(s.ctx, metav1.ListOptions{})).GetResourceVersion()
}

// startAsOf kills the program, and starts it with a first list as of a version, for some time.
func (s *stage) startAsOf(version string, d time.Duration, streaming bool) {
	for _, resource := range s.users() {
		defer s.proxy.HoldWatches(resource)()
	}
	s.proxy.Intercept(travel(s.users(), version, streaming))
	defer s.proxy.Intercept(nil)
	s.killPrograms()
	check(s.startProgram())
	s.take(wait(d))
}

// contended takes steps while another client writes every Foo and Deployment again and again, for
// some time at least.
func contended(d time.Duration, steps ...step) step {
	return func(s *stage) {
		i, end := 0, time.Now().Add(d)
		meanwhile(20*time.Millisecond, func(s *stage) {
			i++
			s.touch(i)
		}, func(s *stage) {
			s.take(steps...)
			s.pause(time.Until(end))
		})(s)
	}
}

// touch gives each Foo and each Deployment, or each object of the kind and what was made for it, another annotation.
func (s *stage) touch(i int) {
	if s.judge.kind != nil {
		for _, path := range append(s.made(), s.api.Paths(s.judge.kind.Plural)...) {
			s.api.Edit(path, func(o *unstructured.Unstructured) {
				o.SetAnnotations(map[string]string{"example.com/another": strconv.Itoa(i)})
			})
		}
		return
	}
	foos, deployments := s.history.names()
	for _, name := range foos {
		patchFoo(name, note(i))(s)
	}
	for _, name := range deployments {
		patchDeployment(name, note(i))(s)
	}
}

// note is an annotation.
func note(i int) object {
	return object{"metadata": object{"annotations": object{"example.com/another": strconv.Itoa(i)}}}
}

// apiServerFrozen stops the API server for some time.
func apiServerFrozen(d time.Duration) step {
	return func(s *stage) {
		check(s.apiServer(syscall.SIGSTOP))
		time.Sleep(d) // Not less if the judge is interrupted: the signal below must follow.
		check(s.apiServer(syscall.SIGCONT))
	}
}

// names returns those of the Foos and of the Deployments.
func (h *history) names() (foos, deployments []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Keys(h.foos)), slices.Collect(maps.Keys(h.deployments))
}

// second starts a second process of the command.
func second(s *stage) {
	s.tolerant.Store(true)
	defer s.tolerant.Store(false)
	check(s.startProgram())
	running := s.running()
	p := running[len(running)-1]
	begins := 5 * time.Second
	if s.judge.contract == nil && s.judge.command.args[0] == "go" {
		begins = 30 * time.Second // It compiles.
	}
	s.pause(begins)
	if ended := p.Ended(); ended != "" {
		check(notJudged(fmt.Sprintf("a second process of the command ends (%s). If both want the same port, let each take a free one (port 0). It printed at last:\n%s", ended, p.words(5))))
	}
}

// killFirst ends the process that was started first, with SIGKILL.
func killFirst(s *stage) {
	p := s.running()[0]
	s.remove(p)
	p.Kill()
}

// served waits until the Deployment that each of these Foos names is its own.
func served(names ...string) step {
	return func(s *stage) {
		waits := ""
		s.within(s.bound, func() bool {
			waits = ""
			for _, name := range names {
				f := s.history.foo(name)
				d := s.history.deployment(f.Spec.DeploymentName)
				if d == nil || oracle.ControllerOf(d) != f.UID {
					waits = fmt.Sprintf("Foo %s (generation %d) asks for Deployment %s, and does not control it.", name, f.Generation, f.Spec.DeploymentName)
				}
			}
			return waits == ""
		}, func() finding {
			return found(P1, deadlocked, time.Now(), "%s It is still so after %s.", waits, s.bound)
		})
	}
}

// renamedBack lets a Foo, which names the Deployment of its own name, name another one, and takes
// that back just before the program's DELETE of the first one is passed on. It fails if that one
// is gone then.
func renamedBack(name, other string) step {
	return func(s *stage) {
		uid := s.history.deployment(name).UID
		var once sync.Once
		back := make(chan error, 1)
		s.proxy.Intercept(func(_ http.ResponseWriter, r *http.Request) bool {
			if t := testkit.TargetOf(r.URL.Path); r.Method == http.MethodDelete && t.Resource == "deployments" && t.Name == name {
				once.Do(func() { back <- try(func() { changeFoo(name, object{"deploymentName": name})(s) }) })
			}
			return false
		})
		defer s.proxy.Intercept(nil)
		changeFoo(name, object{"deploymentName": other})(s)
		s.needs(s.bound, func() bool { return len(back) > 0 }, "the program has sent no DELETE of the Deployment of the earlier name")
		check(<-back)
		if s.await(onTheWay, func() bool {
			d := s.history.deployment(name)
			return d == nil || d.UID != uid || d.DeletionTimestamp != nil
		}) {
			s.find(found(P1, overtaken, time.Now(), "Foo %s named Deployment %s, and then Deployment %s again, before the API server had the program's DELETE of that one. It has deleted the Deployment that the Foo asks for.", name, other, name))
		}
	}
}
