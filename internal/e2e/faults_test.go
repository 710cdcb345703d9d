//go:build long

package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

// randomFaults answers a share of all requests in the place of the API server, as a server
// or a network in trouble does.
type randomFaults struct {
	mu     sync.Mutex
	random *rand.Rand
	share  float64
	struck map[string]int
	reads  int // lists and watches
}

// The ways in which a request fails. The timeouts differ in whether the server has
// carried the request out.
const (
	tooMany     = "429"
	internal    = "500"
	unavailable = "503"
	lostRequest = "lost request"
	lostAnswer  = "lost answer"
)

func newRandomFaults(seed int64, share float64) *randomFaults {
	return &randomFaults{random: rand.New(rand.NewSource(seed)), share: share, struck: map[string]int{}}
}

func (h *randomFaults) draw(request *http.Request) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if strings.HasSuffix(request.URL.Path, "/foos") || strings.HasSuffix(request.URL.Path, "/deployments") {
		if request.Method == http.MethodGet {
			h.reads++
		}
	}
	kind := []string{tooMany, internal, unavailable, lostRequest, lostAnswer}[h.random.Intn(5)]
	if h.random.Float64() >= h.share {
		return ""
	}
	h.struck[kind]++
	return kind
}

func (h *randomFaults) fault(request *http.Request, next http.RoundTripper) (*http.Response, error) {
	const status = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"a fault of the test","reason":%q,"code":%d}`
	switch h.draw(request) {
	case tooMany:
		response := answer(request, http.StatusTooManyRequests, "text/plain; charset=utf-8", "Too many requests, please try again later.\n")
		response.Header.Set("Retry-After", "1")
		return response, nil
	case internal:
		return answer(request, http.StatusInternalServerError, "application/json", fmt.Sprintf(status, metav1.StatusReasonInternalError, 500)), nil
	case unavailable:
		return answer(request, http.StatusServiceUnavailable, "application/json", fmt.Sprintf(status, metav1.StatusReasonServiceUnavailable, 503)), nil
	case lostRequest:
		if request.Body != nil {
			_ = request.Body.Close()
		}
		return nil, os.ErrDeadlineExceeded
	case lostAnswer:
		if response, err := next.RoundTrip(request); err == nil {
			_ = response.Body.Close()
		}
		return nil, os.ErrDeadlineExceeded
	default:
		return nil, nil
	}
}

func answer(request *http.Request, code int, contentType, body string) *http.Response {
	if request.Body != nil {
		_ = request.Body.Close()
	}
	return &http.Response{
		StatusCode: code, Status: fmt.Sprintf("%d %s", code, http.StatusText(code)), Request: request,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {contentType}}, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
	}
}

// TestRandomFaults lets a share of all requests fail, reads and writes, lists and watches,
// while Foos are created, scaled, renamed and deleted. Everything comes true while
// requests fail, nothing is lost, and the requests are bounded.
func TestRandomFaults(t *testing.T) {
	patience(t, 3*time.Minute)
	chosen := newSeed(t)
	var calm, calmReads int
	for _, share := range []float64{0, 0.01, 0.1, 0.5} {
		t.Run(fmt.Sprintf("%.0f%%", 100*share), func(t *testing.T) {
			begin := time.Now()
			h := newRandomFaults(chosen, share)
			sent := requestsUnder(t, h)
			t.Logf("%d requests and %d lists and watches in %s; faults: %v", sent, h.reads, time.Since(begin).Round(100*time.Millisecond), h.struck)
			if share == 0 {
				calm, calmReads = sent, h.reads
				return
			}
			// It takes 1/(1-share) tries until a request passes. One whose answer is lost,
			// a fifth of those that fail, costs two more: the same again, which is refused,
			// and a look at what is there. Half as many again is left to chance.
			tries := 1 / (1 - share)
			if bound := int(1.5 * float64(calm) * tries * (1 + 2*share/5)); sent > bound {
				t.Errorf("%d requests, want at most %d: without faults it was %d", sent, bound, calm)
			}
			// A watch that cannot be had is asked for as a stream, as a list, and as a
			// watch again, each time after a longer pause.
			if bound := int(3 * float64(calmReads) * tries); h.reads > bound {
				t.Errorf("%d lists and watches, want at most %d: without faults it was %d", h.reads, bound, calmReads)
			}
		})
	}
}

// requestsUnder returns how many requests it took.
func requestsUnder(t *testing.T, h *randomFaults) (sent int) {
	const foos = 30
	keepLog(t)
	s := newServer(t)
	l := newLab(s, 0)
	stop := l.work(8)
	goroutines, heap := runtime.NumGoroutine(), liveHeap()
	l.line.disturb(h.fault)
	for _, round := range s.rounds() {
		for i := range foos {
			round.change(i, fmt.Sprintf("foo-%d", i))
		}
		// Both watches have to be asked for again.
		l.line.hangUp()
		s.eventually("the Foos are "+round.what, s.asSpecified)
	}
	s.eventually("all is as it should be", func() error { return errors.Join(s.atRest(), s.asSpecified()) })
	l.line.disturb(nil)
	sent = len(l.line.requests())

	// What was begun under faults has ended.
	s.eventually("no goroutine is left over", func() error {
		if now := runtime.NumGoroutine(); now > goroutines+10 {
			return fmt.Errorf("%d goroutines, before it was %d", now, goroutines)
		}
		return nil
	})
	t.Logf("live heap: %d KiB before, %d KiB after", heap>>10, liveHeap()>>10)
	stop()
	s.settles("foo-0", "foo-1", "foo-3", "foo-4")
	return sent
}

// round is one thing that happens to every Foo.
type round struct {
	what   string
	change func(i int, name string)
}

func (s *server) rounds() []round {
	return []round{
		{"created", func(i int, name string) { s.createFoo(name, spec(fmt.Sprintf("d-%d", i), 1)) }},
		{"scaled", func(_ int, name string) {
			s.changeFoo(name, func(spec *v1alpha1.FooSpec) { *spec.Replicas = 2 })
		}},
		{"renamed", func(_ int, name string) {
			s.changeFoo(name, func(spec *v1alpha1.FooSpec) { spec.DeploymentName += "-renamed" })
		}},
		{"left alone, made anew, or deleted", func(i int, name string) {
			if i%3 == 0 {
				return
			}
			s.deleteFoo(name)
			if i%3 == 1 {
				s.createFoo(name, spec(fmt.Sprintf("d-%d-renamed", i), 0))
			}
		}},
	}
}

// asSpecified returns an error unless each Foo controls one Deployment, which is as
// the Foo asks, and there are no others. What their own controller makes of them
// is not looked at.
func (s *server) asSpecified() error {
	foos, err := s.client.SamplecontrollerV1alpha1().Foos(s.namespace).List(s.Context(), metav1.ListOptions{})
	if err != nil {
		return err
	}
	deployments, err := s.kube.AppsV1().Deployments(s.namespace).List(s.Context(), metav1.ListOptions{})
	if err != nil {
		return err
	}
	if len(foos.Items) != len(deployments.Items) {
		return fmt.Errorf("%d Foos and %d Deployments", len(foos.Items), len(deployments.Items))
	}
	wanted := map[string]*v1alpha1.Foo{}
	for i, foo := range foos.Items {
		wanted[foo.Spec.DeploymentName] = &foos.Items[i]
	}
	for _, d := range deployments.Items {
		if foo := wanted[d.Name]; foo == nil || !metav1.IsControlledBy(&d, foo) || *d.Spec.Replicas != *foo.Spec.Replicas || d.DeletionTimestamp != nil {
			return fmt.Errorf("Deployment %s with %d replicas is not what Foo %v asks for", d.Name, *d.Spec.Replicas, foo)
		}
	}
	return nil
}

func liveHeap() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// keepLog keeps what the controller inside the test logs, and shows the end of it
// if the test fails.
func keepLog(t *testing.T) {
	var log bytes.Buffer
	klog.SetSlogLogger(slog.New(slog.NewTextHandler(&log, nil)))
	t.Cleanup(func() {
		klog.ClearLogger()
		if t.Failed() {
			t.Logf("the end of the log:\n%s", log.Bytes()[max(0, log.Len()-20_000):])
		}
	})
}
