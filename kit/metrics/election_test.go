package metrics_test

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"

	"example.com/byhand/kit/leader"
	"example.com/byhand/kit/metrics"
	"example.com/byhand/kit/testkit"
)

// lead makes this process the leader and lets one renewal fail, so that the next
// reads the Lease again. lose makes all further renewals fail.
func lead(t *testing.T, m *metrics.Metrics) (lose func()) {
	t.Helper()
	api := testkit.NewAPIServer()
	var failed, lost atomic.Bool
	api.Refuse(func(r *http.Request) *apierrors.StatusError {
		if r.Method != http.MethodPut || !lost.Load() && !failed.CompareAndSwap(false, true) {
			return nil
		}
		return apierrors.NewInternalError(errors.New("told to fail"))
	})
	options := leader.Options{Elect: true, LeaseDuration: time.Minute, RenewDeadline: 500 * time.Millisecond, RetryPeriod: 10 * time.Millisecond, Name: "byhand", Namespace: "default"}
	election, err := leader.New(api.Config(), "", options, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, m, map[string]float64{`leader_election_master_status{name="byhand"}`: 0})

	runUntilEnd(t, func(ctx context.Context) {
		// Its log would be long, and it is not what is looked at.
		_ = election.Run(klog.NewContext(ctx, klog.Logger{}), func(ctx context.Context) error {
			<-ctx.Done()
			return nil
		})
	})
	await(t, m, `leader_election_slowpath_total{name="byhand"}`, is(1))
	return func() { lost.Store(true) }
}

// The gauge follows the Lease.
func TestElection(t *testing.T) {
	m := metrics.New()
	lose := lead(t, m)
	expect(t, m, map[string]float64{`leader_election_master_status{name="byhand"}`: 1})
	lose()
	await(t, m, `leader_election_master_status{name="byhand"}`, is(0))
}
