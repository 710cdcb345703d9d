//go:build long

package e2e

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"example.com/byhand/kit/testkit"
)

var failovers = flag.Int("failovers", 1, "how often each kind of failover is tried and timed")

// crowd is how many Foos there are while the leader changes.
const crowd = 30

// TestFailover ends the leader in every way, with the usual lease of 15 s, while
// people go on changing their Foos. Nothing may be done twice, nothing newer may
// be undone, nothing may be lost. A leader that was frozen writes nothing when it thaws, though it
// tries to renew for 10 s. How long the Foos wait is reported, not judged.
func TestFailover(t *testing.T) {
	for _, test := range []struct {
		reason string
		// end ends the leader, and returns what to do when the other one works.
		end func(t *testing.T, leader *program, line *testkit.Proxy) (afterwards func())
	}{
		{"ended", func(t *testing.T, leader *program, _ *testkit.Proxy) func() {
			leader.Stop()
			return func() {}
		}},
		{"killed", func(t *testing.T, leader *program, _ *testkit.Proxy) func() {
			leader.Signal(syscall.SIGKILL)
			return func() {}
		}},
		{"frozen", func(t *testing.T, leader *program, _ *testkit.Proxy) func() {
			leader.Signal(syscall.SIGSTOP)
			return func() {
				leader.Signal(syscall.SIGCONT)
				losesLease(t, leader)
			}
		}},
		{"cut off", func(t *testing.T, leader *program, line *testkit.Proxy) func() {
			mend := cut(line)
			return func() {
				// It has ended before the other one began, though no process could tell it.
				if leader.Ended() == "" {
					t.Error("two replicas are at work")
				}
				losesLease(t, leader)
				mend()
			}
		}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			t.Parallel()
			var waits []time.Duration
			for range *failovers {
				waits = append(waits, failover(t, test.end))
			}
			slices.Sort(waits)
			t.Logf("until the other one works: median %s, maximum %s of %d", waits[len(waits)/2].Round(time.Millisecond), waits[len(waits)-1].Round(time.Millisecond), len(waits))
		})
	}
}

func failover(t *testing.T, end func(*testing.T, *program, *testkit.Proxy) func()) time.Duration {
	s := newServer(t)
	line, kubeconfig := s.proxied(s.config)
	leader := s.replica(works, "--kubeconfig", kubeconfig)
	standby := s.replica(standsBy)
	for i := range crowd {
		s.createFoo(fmt.Sprintf("foo-%d", i), spec(fmt.Sprintf("d-%d", i), 1))
	}
	s.eventually("all Foos are ready", s.consistent)

	// People change everything just before and after the leader ends, so that it has
	// work in hand and what it knows becomes old.
	change := func(i int, spec string) { s.changeFoo(fmt.Sprintf("foo-%d", i), `{"spec":{`+spec+`}}`) }
	for i := range crowd / 2 {
		change(i, `"replicas":2`)
	}
	begin := time.Now()
	afterwards := end(t, leader, line)
	for i := range crowd {
		if i%2 == 0 {
			change(i, fmt.Sprintf(`"deploymentName":"d-%d-renamed"`, i))
		} else {
			change(i, `"replicas":3`)
		}
	}
	standby.WaitFor(works)
	waited := time.Since(begin)
	s.eventually("the other one has done the work", s.consistent)

	// The old leader wakes among objects that are all newer than it knows. The generation of a
	// Deployment is what only the controller changes here.
	versions := func() string {
		return s.kubectl("get", "deployments", "--namespace", s.namespace, "-o", "custom-columns=UID:.metadata.uid,GENERATION:.metadata.generation")
	}
	before := versions()
	afterwards()
	s.eventually("all is as it should be", s.consistent)
	if now := versions(); now != before {
		t.Errorf("the old leader wrote:\n%s\nbefore\n%s", now, before)
	}
	standby.Stop()
	s.settles()
	return waited
}

// cut holds back each request from now on, and its sender hears nothing. mend lets the writes
// arrive, though their sender is gone, and returns when they are answered.
func cut(line *testkit.Proxy) (mend func()) {
	var late sync.WaitGroup
	mended := make(chan struct{})
	line.Intercept(func(_ http.ResponseWriter, r *http.Request) bool {
		late.Add(1)
		defer late.Done()
		body, _ := io.ReadAll(r.Body)
		<-mended
		if r.Method != http.MethodGet {
			sent := r.Clone(context.Background())
			sent.Body = io.NopCloser(bytes.NewReader(body))
			line.Next.ServeHTTP(httptest.NewRecorder(), sent)
		}
		return true
	})
	return func() {
		close(mended)
		late.Wait()
	}
}

// losesLease waits for the end of a program that may no longer work.
func losesLease(t *testing.T, p *program) {
	t.Helper()
	if code := p.Exit(); code != 1 {
		t.Errorf("exit code %d after the Lease was lost, want 1", code)
	}
	p.WaitFor("the lease is lost")
}
