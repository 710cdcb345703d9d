package leader_test

import (
	"context"
	"errors"
	"flag"
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

	"example.com/byhand/controller"
	"example.com/byhand/internal/tests/quiet"
	"example.com/byhand/kit/leader"
	"example.com/byhand/kit/testkit"
)

// leases is an API server. The tests use one Lease, at path.
type leases struct{ *testkit.APIServer }

const path = "/apis/coordination.k8s.io/v1/namespaces/default/leases/byhand"

func newLeases() leases { return leases{testkit.NewAPIServer()} }

func (l leases) holder() string {
	lease := l.Get(path)
	if lease == nil {
		return ""
	}
	holder, _, _ := unstructured.NestedString(lease.Object, "spec", "holderIdentity")
	return holder
}

// forbid revokes the permission to send these methods.
func (l leases) forbid(methods ...string) {
	l.Refuse(func(r *http.Request) *apierrors.StatusError {
		if !slices.Contains(methods, r.Method) {
			return nil
		}
		return apierrors.NewForbidden(schema.GroupResource{Resource: "leases"}, "byhand", errors.New("no permission"))
	})
}

// options returns the flags' defaults, changed by args.
func options(t *testing.T, args ...string) leader.Options {
	t.Helper()
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	o := leader.Flags(flags)
	if err := flags.Parse(append([]string{"--leader-elect", "--leader-elect-resource-namespace=default"}, args...)); err != nil {
		t.Fatal(err)
	}
	return *o
}

// campaign is a process in an election.
type campaign struct {
	*leader.Election
	signal context.CancelFunc   // tells the process to end
	works  chan context.Context // receives the context of the work when the process leads
	finish chan struct{}        // ends the work when closed
	result chan error           // receives the result of Run
}

func (l leases) campaign(t *testing.T, args ...string) *campaign {
	t.Helper()
	election, err := leader.New(l.Config(), "", options(t, args...), func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(quiet.Context(t))
	c := &campaign{Election: election, signal: cancel, works: make(chan context.Context, 1), finish: make(chan struct{}), result: make(chan error, 1)}
	go func() {
		c.result <- c.Run(ctx, func(ctx context.Context) error {
			c.works <- ctx
			<-c.finish
			return nil
		})
	}()
	t.Cleanup(cancel)
	return c
}

func (c *campaign) end(t *testing.T) {
	t.Helper()
	c.signal()
	close(c.finish)
	if err := <-c.result; err != nil {
		t.Errorf("error %v after a signal, want nil", err)
	}
	time.Sleep(time.Minute) // Its last timers expire.
}

func (c *campaign) counted(reconciles *int) controller.Reconcile {
	return c.OnlyWhileLeading(func(context.Context, cache.ObjectName) (time.Duration, error) {
		*reconciles++
		return 0, nil
	})
}

// A process holds the Lease until its last worker has finished. Then it releases the Lease, and
// another process works.
func TestReleasesAfterLastWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLeases()
		first := l.campaign(t)
		<-first.works
		holder := l.holder()
		second := l.campaign(t)

		first.signal()
		time.Sleep(time.Minute) // Longer than the lease duration.
		if now := l.holder(); now != holder {
			t.Errorf("a worker is busy, and the Lease went from %q to %q", holder, now)
		}
		first.end(t)
		<-second.works
		if now := l.holder(); now == holder {
			t.Errorf("the second process works, and the Lease names %q, the first", now)
		}
		second.end(t)
		if now := l.holder(); now != "" {
			t.Errorf("both have ended, and the Lease names %q", now)
		}
	})
}

// A process that ends before it receives the response to its first write leaves no Lease
// behind. Otherwise the next process would wait until the Lease expires.
func TestEndsWhileAcquiring(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, begun := newLeases(), make(chan *campaign, 1)
		way := leases{&testkit.APIServer{Faults: testkit.Faults{Next: l}}}
		way.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodPost {
				l.ServeHTTP(httptest.NewRecorder(), r) // The response is lost.
				(<-begun).signal()
			}
			return r.Method == http.MethodPost
		})
		first := way.campaign(t)
		begun <- first
		if err := <-first.result; err != nil {
			t.Errorf("error %v after a signal, want nil", err)
		}
		if now := l.holder(); now != "" || l.Get(path) == nil {
			t.Errorf("it has ended without work, and the Lease names %q", now)
		}
	})
}

// A leader that cannot renew cancels the context of its work and exits. It does not change the Lease of
// another process, and begins no reconcile when another process may lead.
func TestLeaseLost(t *testing.T) {
	for reason, lose := range map[string]func(l leases){
		"the API server fails": func(l leases) {
			l.Refuse(func(*http.Request) *apierrors.StatusError {
				return apierrors.NewInternalError(errors.New("failing"))
			})
		},
		"the Lease names another process": func(l leases) {
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
				work := <-c.works
				before, reconciles := l.holder(), 0
				reconcile := c.counted(&reconciles)
				_, _ = reconcile(t.Context(), cache.ObjectName{})
				lose(l)
				if err := <-c.result; !errors.Is(err, leader.ErrLost) {
					t.Errorf("error %v, want ErrLost", err)
				}
				<-work.Done()
				if now := l.holder(); now != "another" && now != before {
					t.Errorf("the Lease names %q", now)
				}
				time.Sleep(15 * time.Second) // The lease duration.
				if again, err := reconcile(t.Context(), cache.ObjectName{}); reconciles != 1 || again == 0 || err != nil {
					t.Errorf("%d reconciles, again after %s, error %v; want 1, a delay and no error", reconciles, again, err)
				}
				close(c.finish)
			})
		})
	}
}

// No reconcile begins while another process holds the Lease, whatever happened to the last renewals, and at
// whatever fraction of a second they were sent. The other process keeps trying to acquire the Lease.
func TestOneWorks(t *testing.T) {
	for name, s := range map[string]struct {
		// late delays the response to the second renewal. After that many renewals (last) the leader
		// loses its connection, or with onlyRead its permission to write.
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
			t.Run(name+", "+offset.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					l := newLeases()
					var renewals atomic.Int32
					way := leases{&testkit.APIServer{Faults: testkit.Faults{Next: l}}} // the first process's connection
					way.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
						renewal := r.Method == http.MethodPut
						if renewal {
							renewals.Add(1)
						}
						if n := renewals.Load(); n > s.last && (renewal || !s.onlyRead) {
							panic(http.ErrAbortHandler)
						}
						l.ServeHTTP(w, r)
						if renewal && renewals.Load() == 2 {
							time.Sleep(s.late)
						}
						return true
					})
					time.Sleep(offset)
					first := way.campaign(t, s.args...)
					<-first.works
					holder := l.holder()
					second := l.campaign(t, "--leader-elect-retry-period=50ms")

					reconciles := 0
					reconcile := first.counted(&reconciles)
					for start := time.Now(); time.Since(start) < 30*time.Second; time.Sleep(10 * time.Millisecond) {
						taken, before := l.holder() != holder, reconciles
						if _, _ = reconcile(t.Context(), cache.ObjectName{}); taken && reconciles != before {
							t.Errorf("after %s a reconcile begins, and another process has the Lease", time.Since(start))
							break
						}
					}
					if l.holder() == holder || reconciles == 0 {
						t.Errorf("%d reconciles, and the Lease names %q; want reconciles, and the second process", reconciles, l.holder())
					}
					for _, c := range []*campaign{first, second} {
						c.signal()
						close(c.finish)
						<-c.result
					}
				})
			})
		}
	}
}

// A process on standby that can no longer read the Lease, or turns out to have no permission to write
// it, does not take part any more.
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
					t.Errorf("while another process leads: %v", err)
				}
				l.forbid(method)
				time.Sleep(time.Minute)
				if c.Joined() == nil {
					t.Error("it says that it takes part")
				}
				c.end(t)
			})
		})
	}
}

// A process that regains the permission to write the Lease takes part again, even if another process leads.
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
		}
		for _, c := range both {
			c.end(t)
		}
	})
}

func TestImpossibleTimes(t *testing.T) {
	for _, flag := range []string{"--leader-elect-renew-deadline=1h", "--leader-elect-lease-duration=15500ms"} {
		_, err := leader.New(&rest.Config{Host: "127.0.0.1"}, "", options(t, flag), nil)
		if err == nil || !strings.Contains(err.Error(), "--leader-elect-lease-duration") {
			t.Errorf("%s: error %v, want one that names the flags", flag, err)
		}
	}
}
