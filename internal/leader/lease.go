package leader

import (
	"context"
	"sync/atomic"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// lease notes what client-go does with the Lease.
type lease struct {
	resourcelock.Interface
	// takenAway is called when the Lease that we held names another process.
	takenAway func()
	// begun is when the last renewal that succeeded was sent. The others count from
	// when they see it, which is later, so they never count less than we do.
	begun atomic.Pointer[time.Time]
}

// renewed returns when the Lease was renewed, and the zero time if it never was.
func (l *lease) renewed() time.Time {
	if begun := l.begun.Load(); begun != nil {
		return *begun
	}
	return time.Time{}
}

func (l *lease) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.note(func() error { return l.Interface.Create(ctx, record) })
}

func (l *lease) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.note(func() error { return l.Interface.Update(ctx, record) })
}

func (l *lease) note(write func() error) error {
	now := time.Now()
	err := write()
	if err == nil {
		l.begun.Store(&now)
	}
	return err
}

func (l *lease) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := l.Interface.Get(ctx)
	if err == nil && l.begun.Load() != nil && record.HolderIdentity != l.Identity() {
		l.takenAway()
	}
	return record, raw, err
}
