package leader

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/retry"
	"k8s.io/klog/v2"

	"example.com/byhand/controller"
)

// ErrLost is returned by Run when the leader lost its Lease. The process should exit.
var ErrLost = errors.New("lost the lease: another process may lead now, so this one exits")

// Options configure the election. The flags have the names and defaults of Kubernetes' own
// components.
type Options struct {
	Elect                                     bool
	LeaseDuration, RenewDeadline, RetryPeriod time.Duration
	// The Lease.
	Name, Namespace string
}

// Flags adds the options to flags.
func Flags(flags *flag.FlagSet) *Options {
	o := &Options{}
	flags.BoolVar(&o.Elect, "leader-elect", false, "work only while holding a Lease, so that several replicas can run")
	flags.DurationVar(&o.LeaseDuration, "leader-elect-lease-duration", 15*time.Second, "how long other processes wait for a leader that does not renew the Lease")
	flags.DurationVar(&o.RenewDeadline, "leader-elect-renew-deadline", 10*time.Second, "how long the leader tries to renew the Lease before it exits")
	flags.DurationVar(&o.RetryPeriod, "leader-elect-retry-period", 2*time.Second, "how long to wait between two attempts")
	flags.StringVar(&o.Name, "leader-elect-resource-name", "byhand", "name of the Lease: use a different name for each --namespace")
	flags.StringVar(&o.Namespace, "leader-elect-resource-namespace", "", "namespace of the Lease (default: the kubeconfig's, or the Pod's own)")
	return o
}

// lock records when this process last acquired or renewed the Lease. client-go records a later time,
// the response's or a GET's, but the other processes count from the request.
type lock struct {
	resourcelock.Interface
	// renewed is a time just before the last successful renewal was sent, or nil. It has a
	// monotonic part.
	renewed atomic.Pointer[time.Time]
	// seen is when the Lease was last read or written, refused when a write was last rejected for a
	// missing permission; nil for never. A leader without the permission retries soon, a standby process
	// writes nothing.
	seen, refused atomic.Pointer[time.Time]
}

// Get implements resourcelock.Interface.
func (l *lock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := l.Interface.Get(ctx)
	if err == nil {
		l.seen.Store(new(time.Now()))
	}
	return record, raw, err
}

// Create implements resourcelock.Interface.
func (l *lock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.note(record, l.Interface.Create(ctx, record))
}

// Update implements resourcelock.Interface.
func (l *lock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.note(record, l.Interface.Update(ctx, record))
}

// note takes the time from the record, truncated to the second. Other processes count from when they
// first see a changed record. client-go may send the same record twice, seconds apart, and two
// records of the same second are equal for the others.
func (l *lock) note(record resourcelock.LeaderElectionRecord, err error) error {
	if now := time.Now(); err == nil {
		l.seen.Store(&now)
		l.refused.Store(nil)
	} else if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) {
		l.refused.Store(&now)
	}
	if err == nil && record.HolderIdentity == l.Identity() {
		// Truncate would drop the monotonic part.
		renewed := record.RenewTime.Add(-time.Duration(record.RenewTime.Nanosecond()))
		l.renewed.Store(&renewed)
	}
	return err
}

// isWithin reports whether at is set and less than duration ago.
func isWithin(at *atomic.Pointer[time.Time], duration time.Duration) bool {
	t := at.Load()
	return t != nil && time.Since(*t) < duration
}

// Election is one process's participation in an election. Call Run once.
type Election struct {
	options Options
	lock    *lock
	elector *leaderelection.LeaderElector
	// lead is what to do as the leader. Run sets it before the elector can call it.
	lead  func()
	leads atomic.Bool
}

// New returns the election for a Lease. The Lease is in namespace unless o.Namespace is set.
// Without o.Elect, Run leads at once. announce is called with the name of each new leader other
// than this process.
//
// Requests for the Lease ignore config's rate limit: a renewal must not wait for other requests.
func New(config *rest.Config, namespace string, o Options, announce func(leader string)) (*Election, error) {
	e := &Election{options: o}
	if !o.Elect {
		return e, nil
	}
	if o.LeaseDuration%time.Second != 0 {
		// The Lease stores whole seconds: other processes would wait for less than this one.
		return nil, fmt.Errorf("leader election: --leader-elect-lease-duration %s: give whole seconds", o.LeaseDuration)
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("leader election: %w", err)
	}
	config = rest.CopyConfig(config)
	config.QPS, config.RateLimiter = -1, nil
	// A restarted process on the same host has a new identity.
	identity := host + "_" + string(uuid.NewUUID())
	lease, err := resourcelock.NewFromKubeconfig(resourcelock.LeasesResourceLock, cmp.Or(o.Namespace, namespace), o.Name,
		resourcelock.ResourceLockConfig{Identity: identity}, config, o.RenewDeadline)
	if err != nil {
		return nil, fmt.Errorf("leader election: %w", err)
	}
	e.lock = &lock{Interface: lease}
	e.elector, err = leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Name:          o.Name,
		Lock:          e.lock,
		LeaseDuration: o.LeaseDuration,
		RenewDeadline: o.RenewDeadline,
		RetryPeriod:   o.RetryPeriod,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { e.lead() },
			OnStoppedLeading: func() {},
			OnNewLeader: func(leader string) {
				if leader != "" && leader != identity {
					announce(leader)
				}
			},
		},
	})
	if err != nil {
		return nil, fmt.Errorf("leader election: %w: see --leader-elect-lease-duration, -renew-deadline and -retry-period", err)
	}
	return e, nil
}

// Run waits for the Lease, then calls lead with a context that ends with ctx. When lead has
// returned, Run releases the Lease and returns lead's error. It returns nil if ctx ends while
// another process leads. If the Lease is lost, Run cancels lead's context and returns ErrLost at
// once: lead may still be running, and the caller should exit.
func (e *Election) Run(ctx context.Context, lead func(ctx context.Context) error) error {
	if !e.options.Elect {
		return lead(ctx)
	}
	working, stop := context.WithCancel(ctx)
	defer stop()
	// The Lease is renewed until release is called, even after ctx is done.
	holding, release := context.WithCancel(klog.NewContext(context.Background(), klog.FromContext(ctx)))
	defer release()
	// Either lead starts, or ctx ends first. The end of lead releases the Lease.
	var decided atomic.Bool
	var result error
	e.lead = func() {
		if decided.CompareAndSwap(false, true) {
			e.leads.Store(true)
			result = lead(working)
			release()
		}
	}
	defer context.AfterFunc(ctx, func() {
		if decided.CompareAndSwap(false, true) {
			release()
		}
	})()

	e.elector.Run(holding)
	if holding.Err() == nil {
		return ErrLost // client-go gave up.
	}
	e.giveAway()
	return result
}

// giveAway clears the Lease if this process holds it, so that other processes need not wait until it
// expires. An interrupted request may have acquired it. If giveAway fails, they wait.
func (e *Election) giveAway() {
	ctx, cancel := context.WithTimeout(context.Background(), e.options.RenewDeadline)
	defer cancel()
	// An interrupted renewal may have arrived: that is a Conflict, so retry.
	_ = retry.RetryOnConflict(retry.DefaultRetry, func() error {
		record, _, err := e.lock.Get(ctx)
		if err != nil || record.HolderIdentity != e.lock.Identity() {
			return err
		}
		record.HolderIdentity = ""
		record.LeaseDurationSeconds = 1
		return e.lock.Update(ctx, *record)
	})
}

// OnlyWhileLeading returns a Reconcile that calls next only while this process holds the Lease: less
// than a lease duration has passed since it sent its last successful renewal, and other processes
// wait longer. Otherwise it does nothing and requeues the key. It does not stop a running reconcile.
// The package comment describes when two processes may work at the same time.
func (e *Election) OnlyWhileLeading(next controller.Reconcile) controller.Reconcile {
	return func(ctx context.Context, key cache.ObjectName) (requeueAfter time.Duration, err error) {
		if e.options.Elect && (!e.elector.IsLeader() || !isWithin(&e.lock.renewed, e.options.LeaseDuration)) {
			return e.options.RetryPeriod, nil
		}
		return next(ctx, key)
	}
}

// Healthy returns an error if this process still runs although its Lease expired a lease duration
// ago: something hangs, and a restart helps.
func (e *Election) Healthy() error {
	if !e.options.Elect {
		return nil
	}
	return e.elector.Check(e.options.LeaseDuration)
}

// Joined returns nil if this process takes part in the election: within the lease duration it has
// read or written the Lease, and no write was rejected for a missing permission. Otherwise it does not
// lead, or not for long.
func (e *Election) Joined() error {
	if !e.options.Elect {
		return nil
	}
	if isWithin(&e.lock.refused, e.options.LeaseDuration) {
		return fmt.Errorf("the Lease %s: no permission to write it", e.lock.Describe())
	}
	if !isWithin(&e.lock.seen, e.options.LeaseDuration) {
		return fmt.Errorf("the Lease %s was not read for %s, or never", e.lock.Describe(), e.options.LeaseDuration)
	}
	return nil
}

// WhileLeading returns a check that calls check while this process leads, and passes otherwise.
func (e *Election) WhileLeading(check func() error) func() error {
	return func() error {
		if e.options.Elect && !e.leads.Load() {
			return nil
		}
		return check()
	}
}
