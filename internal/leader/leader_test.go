package leader_test

import (
	"context"
	"errors"
	"flag"
	"net/http"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/internal/leader"
	"example.com/byhand/internal/testkit"
	"example.com/byhand/internal/testkit/quiet"
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
	election, err := leader.New(l.Config(), "", options(t, args...), func(string, bool) {})
	if err != nil {
		t.Fatal(err)
	}
	return election
}

// campaign is a process in an election.
type campaign struct {
	*leader.Election
	// signal ends the process; works is closed when it leads; finish ends its work;
	// result is what Run returned.
	signal context.CancelFunc
	works  chan struct{}
	finish chan struct{}
	result chan error
}

func (l leases) campaign(t *testing.T, args ...string) *campaign {
	t.Helper()
	ctx, cancel := context.WithCancel(quiet.Context(t))
	c := &campaign{Election: l.election(t, args...), signal: cancel, works: make(chan struct{}), finish: make(chan struct{}), result: make(chan error, 1)}
	go func() {
		c.result <- c.Run(ctx, func(ctx context.Context) {
			close(c.works)
			<-ctx.Done()
			<-c.finish
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

// guarded reports whether the guard lets a reconcile run.
func (c *campaign) guarded(t *testing.T) (runs bool) {
	t.Helper()
	_, err := c.OnlyWhileLeading(func(context.Context, cache.ObjectName) (time.Duration, error) {
		runs = true
		return 0, nil
	})(context.Background(), cache.NewObjectName("default", "foo"))
	if runs == errors.Is(err, leader.ErrLost) {
		t.Errorf("the reconcile ran: %t, and the guard says %v", runs, err)
	}
	return runs
}

// The Lease is held until the last worker has finished, then it is given away and
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

// A process that stands by ends at once, and leaves the Lease alone.
func TestStandByEnds(t *testing.T) {
	l := newLeases()
	first := l.campaign(t, often...)
	await(t, first.works, "the first process works")
	holder := l.holder()
	second := l.campaign(t, often...)
	second.signal()
	if err := await(t, second.result, "the second process ends"); err != nil {
		t.Errorf("error %v after a signal, want none", err)
	}
	if now := l.holder(); now != holder {
		t.Errorf("the Lease went from %q to %q", holder, now)
	}
	select {
	case <-second.works:
		t.Error("the second process has worked")
	default:
	}
	close(first.finish)
}

// Another's name in the Lease is the end: at once, though this process could
// still try to renew for half an hour, and without touching the other's Lease.
func TestLeaseTakenAway(t *testing.T) {
	l := newLeases()
	if (&campaign{Election: l.election(t)}).guarded(t) {
		t.Error("the guard lets a reconcile run before the process has a Lease")
	}
	c := l.campaign(t, often...)
	await(t, c.works, "the process works")
	if !c.guarded(t) {
		t.Error("the guard stops the leader")
	}
	l.Edit(path, func(lease *unstructured.Unstructured) {
		_ = unstructured.SetNestedField(lease.Object, "another", "spec", "holderIdentity")
		_ = unstructured.SetNestedField(lease.Object, time.Now().UTC().Format(metav1.RFC3339Micro), "spec", "renewTime")
	})
	if err := await(t, c.result, "the process ends"); !errors.Is(err, leader.ErrLost) {
		t.Errorf("error %v, want ErrLost", err)
	}
	if now := l.holder(); now != "another" {
		t.Errorf("the Lease names %q, want the other process", now)
	}
	close(c.finish)
}

// A leader that cannot renew ends. Long before it can, and after its Lease has
// expired, the guard lets nothing pass.
func TestLeaseExpires(t *testing.T) {
	l := newLeases()
	c := l.campaign(t, "--leader-elect-lease-duration=1s", "--leader-elect-renew-deadline=900ms", "--leader-elect-retry-period=10ms")
	await(t, c.works, "the process works")
	l.Refuse(func(*http.Request) *apierrors.StatusError {
		return apierrors.NewInternalError(errors.New("out of order"))
	})
	if err := await(t, c.result, "the process ends"); !errors.Is(err, leader.ErrLost) {
		t.Errorf("error %v, want ErrLost", err)
	}
	for end := time.Now().Add(deadline); c.guarded(t); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the guard lets a reconcile run, though the Lease has long expired")
		}
	}
	close(c.finish)
}

// A reconcile cannot outlive the Lease that it began under.
func TestReconcileEndsWithLease(t *testing.T) {
	l := newLeases()
	c := l.campaign(t, "--leader-elect-lease-duration=1s", "--leader-elect-renew-deadline=900ms", "--leader-elect-retry-period=10ms")
	await(t, c.works, "the process works")
	_, err := c.OnlyWhileLeading(func(ctx context.Context, _ cache.ObjectName) (time.Duration, error) {
		await(t, ctx.Done(), "the reconcile's context ends")
		return 0, context.Cause(ctx)
	})(context.Background(), cache.NewObjectName("default", "foo"))
	if !errors.Is(err, leader.ErrLost) {
		t.Errorf("the reconcile ended with %v, want ErrLost", err)
	}
	close(c.finish)
}

// Without --leader-elect the process leads at once and asks nobody.
func TestNoElection(t *testing.T) {
	election, err := leader.New(nil, "", leader.Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	led := false
	if err := election.Run(context.Background(), func(context.Context) { led = true }); err != nil || !led {
		t.Errorf("led: %t, error %v", led, err)
	}
	if c := (&campaign{Election: election}); !c.guarded(t) {
		t.Error("the guard stops a process that needs no Lease")
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
