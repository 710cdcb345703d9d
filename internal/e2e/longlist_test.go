//go:build bare

package e2e

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestLongList starts the program on many Foos, as one that stands by: it keeps
// them and does nothing else. It reports the memory for each of them: what is live
// after a collection, and the most that the process ever held.
func TestLongList(t *testing.T) {
	s := newServer(t)
	s.reservedLease()
	heapOfNone, peakOfNone, _ := s.memory()
	s.createFoos(*foos)
	heap, peak, waited := s.memory()

	perFoo := func(before, after int) int { return (after - before) / *foos }
	t.Logf("%d Foos: in memory %s after the start; %d bytes of live heap and %d bytes of peak RSS for each; %d and %d MiB in all, %d and %d MiB without any",
		*foos, waited.Round(time.Millisecond), perFoo(heapOfNone, heap), perFoo(peakOfNone, peak), heap>>20, peak>>20, heapOfNone>>20, peakOfNone>>20)
	// As JSON, with its managedFields, such a Foo has 700 bytes.
	if got := perFoo(heapOfNone, heap); got > 3000 {
		t.Errorf("%d bytes of live heap for each Foo", got)
	}
	if got, most := peak-peakOfNone, 4*(heap-heapOfNone)+64<<20; got > most {
		t.Errorf("the process held %d MiB, more than four times what it keeps and 64 MiB", got>>20)
	}
}

// reservedLease makes a Lease that nobody can win.
func (s *server) reservedLease() {
	s.Helper()
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "byhand"}, Spec: coordinationv1.LeaseSpec{
		HolderIdentity: new("the test"), LeaseDurationSeconds: new(int32(24 * 60 * 60)), RenewTime: &metav1.MicroTime{Time: time.Now()}}}
	if _, err := s.kube.CoordinationV1().Leases(s.namespace).Create(s.Context(), lease, metav1.CreateOptions{}); err != nil {
		s.Fatal(err)
	}
}

// memory starts a replica that stands by and returns the bytes of its live heap
// and of its peak RSS, and how long it took to get everything into memory.
func (s *server) memory() (heap, peak int, waited time.Duration) {
	s.Helper()
	begin := time.Now()
	p := start(s.T, nil, "--namespace", s.namespace, "--leader-elect", "--leader-elect-resource-namespace", s.namespace, "--pprof")
	p.WaitFor("in memory: ")
	waited = time.Since(begin)
	p.WaitFor(standsBy)

	url := regexp.MustCompile(`health and metrics at (\S+)`).FindStringSubmatch(p.Output())[1]
	// Collects the garbage first.
	_ = s.fetch(url + "/debug/pprof/heap?gc=1")
	var live float64
	_, metric, _ := strings.Cut(s.fetch(url+"/metrics"), "\ngo_memstats_heap_alloc_bytes ")
	if _, err := fmt.Sscan(metric, &live); err != nil {
		s.Fatal(err)
	}
	status, err := p.Status()
	if err != nil {
		s.Fatal(err)
	}
	p.Stop()
	if lines := strings.Count(p.Output(), "\n"); lines > 200 {
		s.Errorf("the program prints %d lines", lines)
	}
	return int(live), int(status.VmHWM), waited
}
