//go:build long

package e2e

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

// A thousand Foos whose Deployments a policy denies fail for good. The fifty
// others do not notice: how long they wait is reported, not judged.
func TestThousandDenied(t *testing.T) {
	const denied = 1000
	patience(t, 3*time.Minute)
	s := newServer(t)
	s.deny("denied-")
	h := s.record()
	c := s.controller("--resync", "0")
	h.waits("alone")

	begin := time.Now()
	workqueue.ParallelizeUntil(t.Context(), 8, denied, func(i int) {
		name := fmt.Sprintf("denied-%d", i)
		if _, err := s.client.SamplecontrollerV1alpha1().Foos(s.namespace).Create(t.Context(), &v1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec(name, 1)}, metav1.CreateOptions{}); err != nil {
			t.Error(err)
		}
	})
	h.waits("beside a thousand that have just begun to fail")
	c.Prints(denied, `sent +PUT \S+/foos/denied-\d+/status → 200`)
	h.waits("beside a thousand that go on failing")
	elapsed := time.Since(begin)
	output := c.Output()
	c.Stop()

	s.allDenied(denied)
	tries := map[string]int{}
	for _, match := range tryOfDenied.FindAllStringSubmatch(output, -1) {
		tries[match[1]]++
	}
	most := slices.Max(slices.Collect(maps.Values(tries)))
	t.Logf("in %s each of the thousand was tried at most %d times", elapsed.Round(100*time.Millisecond), most)
	if bound := triesWithin(elapsed); most > bound || len(tries) != denied {
		t.Errorf("%d Foos were tried, one of them %d times in %s, want at most %d times", len(tries), most, elapsed, bound)
	}
}

var tryOfDenied = regexp.MustCompile(`sent +POST \S+/deployments → 403 Forbidden  \(for Foo \S+/(denied-\d+)\)`)

// triesWithin returns how often a key that always fails is tried in this time: at
// first, when its own status wakes it, and after each delay.
func triesWithin(elapsed time.Duration) (tries int) {
	tries = 2
	for delay := 5 * time.Millisecond; elapsed > 0; delay = min(2*delay, 30*time.Second) {
		tries++
		elapsed -= delay
	}
	return tries
}

// waits creates fifty Foos, one after the other, and reports how long each of them
// waits for its Deployment.
func (h *history) waits(when string) {
	h.Helper()
	var waits []time.Duration
	for i := range 50 {
		name := fmt.Sprintf("healthy-%d-%d", len(when), i)
		begin := time.Now()
		h.createFoo(name, spec(name, 1))
		h.eventually("Foo "+name+" has a Deployment", func() error {
			h.mu.Lock()
			defer h.mu.Unlock()
			seen, ok := h.seen[name]
			if !ok {
				return errors.New("not yet")
			}
			waits = append(waits, seen.Sub(begin))
			return nil
		})
	}
	slices.Sort(waits)
	h.Logf("from the request for a Foo to its Deployment, %s: median %s, 99th percentile %s", when,
		waits[len(waits)/2].Round(100*time.Microsecond), waits[len(waits)*99/100].Round(100*time.Microsecond))
}

// allDenied fails the test unless each of the Foos that are denied says so, with
// one warning at most, and each of the others is ready.
func (s *server) allDenied(want int) {
	s.Helper()
	warned, err := s.warnings()
	if err != nil {
		s.Fatal(err)
	}
	for name, times := range warned {
		if times > 1 || !strings.HasPrefix(name, "denied-") {
			s.Errorf("Foo %s was warned %d times", name, times)
		}
	}
	all, err := s.client.SamplecontrollerV1alpha1().Foos(s.namespace).List(s.Context(), metav1.ListOptions{})
	if err != nil {
		s.Fatal(err)
	}
	denied := 0
	for _, foo := range all.Items {
		ready := meta.FindStatusCondition(foo.Status.Conditions, v1alpha1.FooReady)
		if !strings.HasPrefix(foo.Name, "denied-") {
			continue
		}
		if denied++; ready == nil || ready.Reason != v1alpha1.ReasonForbidden || !strings.Contains(ready.Message, "a policy forbids it") {
			s.Errorf("Foo %s: Ready is %+v", foo.Name, ready)
		}
	}
	if denied != want {
		s.Errorf("%d Foos are denied, want %d", denied, want)
	}
	s.Logf("%d of %d were warned: events have a small budget of their own", len(warned), denied)
}

// deny forbids Deployments whose names begin like this in the test's namespace, with a
// policy that lasts until the test ends.
func (s *server) deny(prefix string) {
	s.Helper()
	s.enforce(s.policy(admissionv1.Validation{
		Expression: fmt.Sprintf("!object.metadata.name.startsWith(%q)", prefix),
		Message:    "a policy forbids it", Reason: new(metav1.StatusReasonForbidden),
	}), func() error {
		_, err := s.kube.AppsV1().Deployments(s.namespace).Create(s.Context(), somebodys(prefix+"probe"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if !apierrors.IsForbidden(err) {
			return fmt.Errorf("a probe: %v", err)
		}
		return nil
	})
}
