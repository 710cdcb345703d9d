//go:build bare

package e2e

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestLongList starts the program on many Foos while each write waits for its answer: it keeps
// them and does nothing else. It reports the memory for each of them: what is live after a
// collection, and the most that the process ever held.
func TestLongList(t *testing.T) {
	s := newServer(t)
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

// memory starts the program and returns the bytes of its live heap and of its peak RSS, and
// how long it took to get everything into memory.
func (s *server) memory() (heap, peak int, waited time.Duration) {
	s.Helper()
	proxy, kubeconfig := s.proxied(s.config)
	proxy.Intercept(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet {
			<-r.Context().Done()
		}
		return r.Method != http.MethodGet
	})
	begin := time.Now()
	p := start(s.T, nil, "--kubeconfig", kubeconfig, "--namespace", s.namespace, "--pprof")
	p.WaitFor("in memory: ")
	waited = time.Since(begin)

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
	if lines := strings.Count(p.Output(), "\n"); lines > 200 {
		s.Errorf("the program prints %d lines", lines)
	}
	_ = proxy.Close() // Nothing waits for an answer any more.
	p.Stop()
	return int(live), int(status.VmHWM), waited
}
