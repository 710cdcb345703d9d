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
	flags.StringVar(&o.Name, "leader-elect-resource-name", "byhand", "name of the Lease")
	flags.StringVar(&o.Namespace, "leader-elect-resource-namespace", "", "namespace of the Lease (default: the kubeconfig's, or the Pod's own)")
	return o
}

// Election is one process's part in an election. Call Run once.
type Election struct {
	options Options
	lock    *lease
	elector *leaderelection.LeaderElector
	// holding ends when the Lease is no longer to be renewed; stop ends it and says
	// why.
	holding context.Context
	stop    context.CancelCauseFunc
	// lead is what to do as the leader. Run sets it before the elector can call it.
	lead func()
}

// New returns the election for a Lease, which is in namespace if the Options name none.
// Without Options.Elect there is nothing to win: Run leads at once and OnlyWhileLeading
// lets everything pass. announce is called with the name of each new leader and whether
// that is this process.
//
// The limit of config does not count for the Lease: a renewal must not wait for other
// requests.
func New(config *rest.Config, namespace string, o Options, announce func(leader string, me bool)) (*Election, error) {
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
	lock, err := resourcelock.NewFromKubeconfig(resourcelock.LeasesResourceLock, cmp.Or(o.Namespace, namespace), o.Name,
		resourcelock.ResourceLockConfig{Identity: identity}, config, o.RenewDeadline)
	if err != nil {
		return nil, fmt.Errorf("leader election: %w", err)
	}
	e.holding, e.stop = context.WithCancelCause(context.Background())
	e.lock = &lease{Interface: lock, takenAway: func() { e.stop(ErrLost) }}
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
				if leader != "" {
					announce(leader, leader == identity)
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
// the Lease away when lead has returned. It returns nil then, and when ctx ends
// while another process leads. When the Lease is lost it returns ErrLost, at once:
// lead may still be running, and the caller should end the process.
func (e *Election) Run(ctx context.Context, lead func(ctx context.Context)) error {
	if !e.options.Elect {
		lead(ctx)
		return nil
	}
	// Either the work begins or the end comes first: whoever is first decides.
	var decided atomic.Bool
	e.lead = func() {
		if decided.CompareAndSwap(false, true) {
			lead(ctx)
			e.stop(nil)
		}
	}
	defer context.AfterFunc(ctx, func() {
		if decided.CompareAndSwap(false, true) {
			e.stop(nil)
		}
	})()

	e.elector.Run(klog.NewContext(e.holding, klog.FromContext(ctx)))
	// client-go gave up by itself, or somebody else has the Lease.
	if cause := context.Cause(e.holding); cause == nil || errors.Is(cause, ErrLost) {
		return ErrLost
	}
	e.giveAway()
	return nil
}

// giveAway empties the Lease if it is still ours, so that nobody has to wait for
// it to expire. If that fails they wait.
func (e *Election) giveAway() {
	if !e.elector.IsLeader() {
		return
	}
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
		return e.lock.Interface.Update(ctx, *record)
	})
}

// OnlyWhileLeading lets a reconcile run only while the Lease is valid, and ends its requests
// when the Lease as it was at the beginning ends.
func (e *Election) OnlyWhileLeading(next controller.Reconcile) controller.Reconcile {
	if !e.options.Elect {
		return next
	}
	return func(ctx context.Context, key cache.ObjectName) (time.Duration, error) {
		ends := e.lock.renewed().Add(e.options.LeaseDuration)
		if !time.Now().Before(ends) {
			e.stop(ErrLost)
			return 0, ErrLost
		}
		ctx, cancel := context.WithDeadlineCause(ctx, ends, ErrLost)
		defer cancel()
		return next(ctx, key)
	}
}

// Healthy returns an error when this process holds a Lease that has expired and
// yet has not ended: something hangs, and a restart is the cure.
func (e *Election) Healthy() error {
	if !e.options.Elect {
		return nil
	}
	return e.elector.Check(e.options.LeaseDuration)
}
