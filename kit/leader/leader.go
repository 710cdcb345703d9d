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

// ErrLost is the end of a process that worked and no longer may.
var ErrLost = errors.New("the lease is lost, another process may be at work: this one ends")

// Options say whether and how to elect. The flags have the names and defaults of
// the Kubernetes components.
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
	flags.DurationVar(&o.LeaseDuration, "leader-elect-lease-duration", 15*time.Second, "how long the others wait for a leader that does not renew")
	flags.DurationVar(&o.RenewDeadline, "leader-elect-renew-deadline", 10*time.Second, "how long the leader tries to renew before it ends")
	flags.DurationVar(&o.RetryPeriod, "leader-elect-retry-period", 2*time.Second, "how long to wait between two tries")
	flags.StringVar(&o.Name, "leader-elect-resource-name", "byhand", "name of the Lease: another one for each --namespace")
	flags.StringVar(&o.Namespace, "leader-elect-resource-namespace", "", "namespace of the Lease (default: the kubeconfig's, or the Pod's own)")
	return o
}

// lock notes when this process last got or renewed the Lease. client-go's own note is of no use
// here: it is of the answer, or of a mere GET, and by then the others have been counting.
type lock struct {
	resourcelock.Interface
	// renewed is a time before the last renewal that succeeded was sent, nil for none. It has
	// a monotonic part.
	renewed atomic.Pointer[time.Time]
	// seen is when the Lease was last read or written, refused when the right to write it was missing,
	// nil for never. Who may not write it tries again soon, and who stands by writes nothing.
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

// note takes the time from the record, and cuts it to the second. The others count from when they
// first see a record. client-go may send the same one twice, seconds apart, and to the others two
// of the same second are the same.
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

// isWithin returns whether a time is younger than duration, false if there is none.
func isWithin(at *atomic.Pointer[time.Time], duration time.Duration) bool {
	t := at.Load()
	return t != nil && time.Since(*t) < duration
}

// Election is one process's part in an election. Call Run once.
type Election struct {
	options Options
	lock    *lock
	elector *leaderelection.LeaderElector
	// lead is what to do as the leader. Run sets it before the elector can call it.
	lead  func()
	leads atomic.Bool
}

// New returns the election for a Lease, which is in namespace if the Options name none.
// Without Options.Elect there is nothing to win: Run leads at once. announce is called with
// the name of each new leader that is not this process.
//
// The limit of config does not count for the Lease: a renewal must not wait for other
// requests.
func New(config *rest.Config, namespace string, o Options, announce func(leader string)) (*Election, error) {
	e := &Election{options: o}
	if !o.Elect {
		return e, nil
	}
	if o.LeaseDuration%time.Second != 0 {
		// The Lease stores whole seconds: the others would count fewer than this process does.
		return nil, fmt.Errorf("leader election: --leader-elect-lease-duration %s: give whole seconds", o.LeaseDuration)
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("leader election: %w", err)
	}
	config = rest.CopyConfig(config)
	config.QPS, config.RateLimiter = -1, nil
	// A process that starts anew is another one, also on the same host.
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

// Run waits for the Lease, calls lead with a context that ends with ctx, and gives
// the Lease away when lead has returned, whose error it returns. It returns nil when ctx ends
// while another process leads. When the Lease is lost it ends the context of lead and returns
// ErrLost at once: lead may still be running, and the caller should end the process.
func (e *Election) Run(ctx context.Context, lead func(ctx context.Context) error) error {
	if !e.options.Elect {
		return lead(ctx)
	}
	working, stop := context.WithCancel(ctx)
	defer stop()
	// The Lease is renewed until release is called, also after the end of ctx.
	holding, release := context.WithCancel(klog.NewContext(context.Background(), klog.FromContext(ctx)))
	defer release()
	// Either the work begins or the end comes first. The end of the work releases the Lease.
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

// giveAway empties the Lease if it is ours, so that the other processes need not wait until it
// expires. A request that was cut short may have made it ours. If giveAway fails they wait.
func (e *Election) giveAway() {
	ctx, cancel := context.WithTimeout(context.Background(), e.options.RenewDeadline)
	defer cancel()
	// A renewal that was cut short may have arrived: a Conflict, and once more.
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

// OnlyWhileLeading lets a reconcile begin only while this process holds the Lease, as far as it
// knows, and less than a lease duration has passed since before it sent the last renewal that
// succeeded: the others wait longer. Otherwise it does nothing and comes back. A reconcile that
// has begun is not stopped. The package comment says when two may work.
func (e *Election) OnlyWhileLeading(next controller.Reconcile) controller.Reconcile {
	return func(ctx context.Context, key cache.ObjectName) (requeueAfter time.Duration, err error) {
		if e.options.Elect && (!e.elector.IsLeader() || !isWithin(&e.lock.renewed, e.options.LeaseDuration)) {
			return e.options.RetryPeriod, nil
		}
		return next(ctx, key)
	}
}

// Healthy returns an error when this process holds a Lease that has expired, a lease duration ago,
// and yet has not ended: something hangs, and a restart is the cure.
func (e *Election) Healthy() error {
	if !e.options.Elect {
		return nil
	}
	return e.elector.Check(e.options.LeaseDuration)
}

// Joined returns nil when this process takes part in the election: within the lease duration it has
// read the Lease, or written it, and its last write was not refused for want of a right. Otherwise it
// does not lead, or not for long.
func (e *Election) Joined() error {
	if !e.options.Elect {
		return nil
	}
	if isWithin(&e.lock.refused, e.options.LeaseDuration) {
		return fmt.Errorf("the Lease %s: no right to write it", e.lock.Describe())
	}
	if !isWithin(&e.lock.seen, e.options.LeaseDuration) {
		return fmt.Errorf("the Lease %s was not read for %s, or never", e.lock.Describe(), e.options.LeaseDuration)
	}
	return nil
}

// WhileLeading returns a check that passes as long as this process does not lead.
func (e *Election) WhileLeading(check func() error) func() error {
	return func() error {
		if e.options.Elect && !e.leads.Load() {
			return nil
		}
		return check()
	}
}
