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

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
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
	scale := func(i int) { s.changeFoo(fmt.Sprintf("foo-%d", i), func(spec *v1alpha1.FooSpec) { *spec.Replicas++ }) }
	rename := func(i int) {
		s.changeFoo(fmt.Sprintf("foo-%d", i), func(spec *v1alpha1.FooSpec) { spec.DeploymentName += "-renamed" })
	}
	for i := range crowd / 2 {
		scale(i)
	}
	begin := time.Now()
	afterwards := end(t, leader, line)
	for i := range crowd {
		if i%2 == 0 {
			rename(i)
		} else {
			scale(i)
		}
	}
	standby.WaitFor(works)
	waited := time.Since(begin)
	s.eventually("the other one has done the work", s.consistent)

	// The old leader wakes among objects that are all newer than it knows.
	versions := s.versions()
	afterwards()
	s.eventually("all is as it should be", s.consistent)
	if now := s.versions(); fmt.Sprint(now) != fmt.Sprint(versions) {
		t.Errorf("the old leader wrote:\n%v\nbefore\n%v", now, versions)
	}
	standby.Stop()
	s.settles("foo-0", "foo-1")
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

// versions returns the generation of each Deployment: what only the controller
// changes here.
func (s *server) versions() map[types.UID]int64 {
	s.Helper()
	deployments, err := s.kube.AppsV1().Deployments(s.namespace).List(s.Context(), metav1.ListOptions{})
	if err != nil {
		s.Fatal(err)
	}
	versions := map[types.UID]int64{}
	for _, deployment := range deployments.Items {
		versions[deployment.UID] = deployment.Generation
	}
	return versions
}
