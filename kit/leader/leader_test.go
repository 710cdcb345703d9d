package leader_test

import (
	"context"
	"errors"
	"flag"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/internal/testkit/quiet"
	"example.com/byhand/kit/leader"
	"example.com/byhand/kit/testkit"
)

// deadline is how long a test waits for what must happen.
const deadline = 20 * time.Second

// leases is an API server, of which one Lease is used.
type leases struct{ *testkit.APIServer }

const path = "/apis/coordination.k8s.io/v1/namespaces/default/leases/byhand"

func newLeases() leases { return leases{testkit.NewAPIServer()} }

// holder returns the Lease's holder, "" for none.
func (l leases) holder() string {
	lease := l.Get(path)
	if lease == nil {
		return ""
	}
	holder, _, _ := unstructured.NestedString(lease.Object, "spec", "holderIdentity")
	return holder
}

// renewals waits until the Lease has been written n more times.
func (l leases) renewals(t *testing.T, n int) {
	t.Helper()
	want := l.Version() + n
	for end := time.Now().Add(deadline); l.Version() < want; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the Lease is not renewed for %s", deadline)
		}
	}
}

// forbid takes the right to send these methods away.
func (l leases) forbid(methods ...string) {
	l.Refuse(func(r *http.Request) *apierrors.StatusError {
		if !slices.Contains(methods, r.Method) {
			return nil
		}
		return apierrors.NewForbidden(schema.GroupResource{Resource: "leases"}, "byhand", errors.New("no right"))
	})
}

// options are those of the flags, with these changed.
func options(t *testing.T, args ...string) leader.Options {
	t.Helper()
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	o := leader.Flags(flags)
	if err := flags.Parse(append([]string{"--leader-elect", "--leader-elect-resource-namespace=default"}, args...)); err != nil {
		t.Fatal(err)
	}
	return *o
}

// often renews every few milliseconds and never expires within a test.
var often = []string{"--leader-elect-lease-duration=1h", "--leader-elect-renew-deadline=30m", "--leader-elect-retry-period=5ms"}

func (l leases) election(t *testing.T, args ...string) *leader.Election {
	t.Helper()
	election, err := leader.New(l.Config(), "", options(t, args...), func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	return election
}

// campaign is a process in an election.
type campaign struct {
	*leader.Election
	// signal ends the process; works is closed when it leads, told when its context ends;
	// finish ends its work; result is what Run returned.
	signal context.CancelFunc
	works  chan struct{}
	told   chan struct{}
	finish chan struct{}
	result chan error
}

func (l leases) campaign(t *testing.T, args ...string) *campaign {
	t.Helper()
	ctx, cancel := context.WithCancel(quiet.Context(t))
	c := &campaign{Election: l.election(t, args...), signal: cancel, works: make(chan struct{}), told: make(chan struct{}), finish: make(chan struct{}), result: make(chan error, 1)}
	go func() {
		c.result <- c.Run(ctx, func(ctx context.Context) error {
			close(c.works)
			<-ctx.Done()
			close(c.told)
			<-c.finish
			return nil
		})
	}()
	t.Cleanup(cancel)
	return c
}

func await[T any](t *testing.T, from <-chan T, what string) T {
	t.Helper()
	select {
	case value := <-from:
		return value
	case <-time.After(deadline):
		t.Fatalf("%s: not after %s", what, deadline)
		panic("unreachable")
	}
}

// The Lease is held until the last worker has finished, then it is released and
// another process works.
func TestTwoContexts(t *testing.T) {
	l := newLeases()
	first := l.campaign(t, often...)
	await(t, first.works, "the first process works")
	holder := l.holder()
	second := l.campaign(t, often...)

	first.signal()
	l.renewals(t, 3)
	if now := l.holder(); now != holder {
		t.Errorf("a worker is busy, and the Lease went from %q to %q", holder, now)
	}
	close(first.finish)
	if err := await(t, first.result, "the first process ends"); err != nil {
		t.Errorf("error %v after a signal, want none", err)
	}
	await(t, second.works, "the second process works")
	if now := l.holder(); now == holder {
		t.Errorf("the second process works, and the Lease names %q, the first", now)
	}
	close(second.finish)
	second.signal()
	if err := await(t, second.result, "the second process ends"); err != nil {
		t.Error(err)
	}
	if now := l.holder(); now != "" {
		t.Errorf("both have ended, and the Lease names %q", now)
	}
}

// A process that is told to end while the answer to its first request is on the way leaves no Lease
// behind: the next one would wait until it expires.
func TestEndsWhileAcquiring(t *testing.T) {
	l, begun := newLeases(), make(chan *campaign)
	way := leases{&testkit.APIServer{Faults: testkit.Faults{Next: l}}}
	way.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPost {
			l.ServeHTTP(httptest.NewRecorder(), r) // The answer is lost.
			(<-begun).signal()
		}
		return r.Method == http.MethodPost
	})
	first := way.campaign(t)
	begun <- first
	if err := await(t, first.result, "the process ends"); err != nil {
		t.Fatal(err)
	}
	if now := l.holder(); now != "" {
		t.Errorf("it has ended without work, and the Lease names %q", now)
	}
}

// A leader that cannot renew ends, and leaves another's Lease alone. Its work is told to end.
// When another may lead, it begins no reconcile.
func TestLeaseLost(t *testing.T) {
	for reason, lose := range map[string]func(l leases){
		"the server is out of order": func(l leases) {
			l.Refuse(func(*http.Request) *apierrors.StatusError {
				return apierrors.NewInternalError(errors.New("out of order"))
			})
		},
		"the Lease names another": func(l leases) {
			l.Edit(path, func(lease *unstructured.Unstructured) {
				_ = unstructured.SetNestedField(lease.Object, "another", "spec", "holderIdentity")
				_ = unstructured.SetNestedField(lease.Object, time.Now().UTC().Format(metav1.RFC3339Micro), "spec", "renewTime")
			})
		},
	} {
		t.Run(reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLeases()
				c := l.campaign(t)
				await(t, c.works, "the process works")
				before, reconciles := l.holder(), 0
				reconcile := c.OnlyWhileLeading(func(context.Context, cache.ObjectName) (time.Duration, error) {
					reconciles++
					return 0, nil
				})
				_, _ = reconcile(t.Context(), cache.ObjectName{})
				lose(l)
				if err := await(t, c.result, "the process ends"); !errors.Is(err, leader.ErrLost) {
					t.Errorf("error %v, want ErrLost", err)
				}
				await(t, c.told, "the work is told to end")
				if now := l.holder(); now != "another" && now != before {
					t.Errorf("the Lease names %q", now)
				}
				time.Sleep(15 * time.Second) // Fake: the lease duration.
				if again, err := reconcile(t.Context(), cache.ObjectName{}); reconciles != 1 || again == 0 || err != nil {
					t.Errorf("%d reconciles, again after %s, error %v; want one, which was before, and again later", reconciles, again, err)
				}
				close(c.finish)
			})
		})
	}
}

// No reconcile begins when another process has the Lease, however the last renewals went, and at
// whatever part of a second they were sent. The other process tries all the time.
func TestOneWorks(t *testing.T) {
	for story, s := range map[string]struct {
		// late is how long after it took effect the second renewal is answered. After the last
		// one the leader can only read the Lease, or is cut off.
		late     time.Duration
		last     int32
		onlyRead bool
		args     []string
	}{
		"answered late":                {late: 4900 * time.Millisecond, last: 2},
		"not answered, sent once more": {late: 6 * time.Second, last: 3},
		"it can only read":             {last: 2, onlyRead: true},
		"several renewals in a second": {last: 5, args: []string{"--leader-elect-retry-period=300ms"}},
	} {
		for offset := time.Duration(0); offset < time.Second; offset += 130 * time.Millisecond {
			t.Run(story+", "+offset.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					l := newLeases()
					var renewals atomic.Int32
					way := leases{&testkit.APIServer{Faults: testkit.Faults{Next: l}}} // the leader's own
					way.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
						renewal := r.Method == http.MethodPut
						if renewal {
							renewals.Add(1)
						}
						if n := renewals.Load(); n > s.last && (renewal || !s.onlyRead) {
							panic(http.ErrAbortHandler)
						}
						answer := httptest.NewRecorder()
						l.ServeHTTP(answer, r)
						if renewal && renewals.Load() == 2 {
							time.Sleep(s.late)
						}
						maps.Copy(w.Header(), answer.Header())
						w.WriteHeader(answer.Code)
						_, _ = w.Write(answer.Body.Bytes())
						return true
					})
					time.Sleep(offset)
					first := way.campaign(t, s.args...)
					await(t, first.works, "the first process works")
					holder := l.holder()
					second := l.campaign(t, "--leader-elect-retry-period=50ms")

					reconciles := 0
					reconcile := first.OnlyWhileLeading(func(context.Context, cache.ObjectName) (time.Duration, error) {
						reconciles++
						return 0, nil
					})
					for start := time.Now(); time.Since(start) < 30*time.Second; time.Sleep(10 * time.Millisecond) {
						taken, before := l.holder() != holder, reconciles
						if _, _ = reconcile(t.Context(), cache.ObjectName{}); taken && reconciles != before {
							t.Errorf("after %s a reconcile begins, and another process has the Lease", time.Since(start))
							break
						}
					}
					if l.holder() == holder || reconciles == 0 {
						t.Errorf("%d reconciles, and the Lease names %q, which was cut off", reconciles, l.holder())
					}
					for _, c := range []*campaign{first, second} {
						c.signal()
						close(c.finish)
						_ = await(t, c.result, "the process ends")
					}
				})
			})
		}
	}
}

// A process that stands by does not take part any more when it has lost the right to read the Lease, or
// when that to write it turns out to be missing.
func TestJoinedIsRecent(t *testing.T) {
	for lost, method := range map[string]string{"read": http.MethodGet, "write": http.MethodPut} {
		t.Run(lost, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLeases()
				l.Add(path, &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
					"holderIdentity": "another", "leaseDurationSeconds": int64(15), "renewTime": time.Now().UTC().Format(metav1.RFC3339Micro)}}})
				c := l.campaign(t)
				time.Sleep(5 * time.Second)
				if err := c.Joined(); err != nil {
					t.Errorf("while another one leads: %v", err)
				}
				l.forbid(method)
				time.Sleep(time.Minute)
				if c.Joined() == nil {
					t.Error("it says that it takes part")
				}
				c.signal()
				await(t, c.result, "it ends")
				time.Sleep(time.Minute)
			})
		})
	}
}

// Who had no right to write the Lease, and has it again, takes part again, also if another one leads.
func TestJoinedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLeases()
		l.forbid(http.MethodPost, http.MethodPut)
		both := []*campaign{l.campaign(t), l.campaign(t)}
		time.Sleep(10 * time.Second)
		l.Refuse(nil)
		time.Sleep(time.Minute)
		for _, c := range both {
			if err := c.Joined(); err != nil {
				t.Error(err)
			}
			close(c.finish)
			c.signal()
			_ = await(t, c.result, "the process ends")
		}
		time.Sleep(time.Minute)
	})
}

// Without --leader-elect the process leads at once and asks nobody.
func TestNoElection(t *testing.T) {
	election, err := leader.New(nil, "", leader.Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	failed := errors.New("it cannot work")
	if err := election.Run(t.Context(), func(context.Context) error { return failed }); !errors.Is(err, failed) {
		t.Errorf("error %v, want that of the work", err)
	}
	if err := election.Joined(); err != nil {
		t.Error(err)
	}
	if err := election.Healthy(); err != nil {
		t.Error(err)
	}
}

// Times that cannot work are refused with the names of the flags.
func TestImpossibleTimes(t *testing.T) {
	for _, flag := range []string{"--leader-elect-renew-deadline=1h", "--leader-elect-lease-duration=15500ms"} {
		_, err := leader.New(&rest.Config{Host: "127.0.0.1"}, "", options(t, flag), nil)
		if err == nil || !strings.Contains(err.Error(), "--leader-elect-lease-duration") {
			t.Errorf("%s: error %v, want one that names the flags", flag, err)
		}
	}
}
