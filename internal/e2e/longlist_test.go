//go:build bare

package e2e

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strconv"
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
	s.createFoos()
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
	p.waitFor("in memory: ")
	waited = time.Since(begin)
	p.waitFor(standsBy)

	url := regexp.MustCompile(`health and metrics at (\S+)`).FindStringSubmatch(p.output())[1]
	// Collects the garbage first.
	_ = fetch(s, url+"/debug/pprof/heap?gc=1")
	heap = number(s, fetch(s, url+"/metrics"), `(?m)^go_memstats_heap_alloc_bytes (\S+)$`)
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		s.Fatal(err)
	}
	peak = number(s, string(status), `(?m)^VmHWM:\s*(\d+) kB$`) << 10
	p.stop()
	if lines := strings.Count(p.output(), "\n"); lines > 200 {
		s.Errorf("the program prints %d lines", lines)
	}
	return heap, peak, waited
}

func fetch(s *server, url string) string {
	s.Helper()
	response, err := http.Get(url)
	if err != nil {
		s.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		s.Fatalf("GET %s: %s (%v)", url, response.Status, err)
	}
	return string(body)
}

func number(s *server, text, pattern string) int {
	s.Helper()
	match := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if match == nil {
		s.Fatalf("no %s in\n%s", pattern, text)
	}
	value, err := strconv.ParseFloat(match[1], 64)
	if err != nil {
		s.Fatal(err)
	}
	return int(value)
}
