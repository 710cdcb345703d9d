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

// The gauge follows the Lease. After a failed renewal the elector reads the Lease again.
func TestElection(t *testing.T) {
	m, api := metrics.New(), testkit.NewAPIServer()
	var renewals atomic.Int32
	var lost atomic.Bool
	api.Refuse(func(r *http.Request) *apierrors.StatusError {
		if r.Method == http.MethodPut && (lost.Load() || renewals.Add(1) == 1) {
			return apierrors.NewInternalError(errors.New("rejected by the test"))
		}
		return nil
	})
	options := leader.Options{Elect: true, LeaseDuration: time.Minute, RenewDeadline: 500 * time.Millisecond, RetryPeriod: 10 * time.Millisecond, Name: "byhand", Namespace: "default"}
	election, err := leader.New(api.Config(), "", options, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, m, map[string]float64{`leader_election_master_status{name="byhand"}`: 0})

	go func() {
		_ = election.Run(klog.NewContext(t.Context(), klog.Logger{}), func(ctx context.Context) error {
			<-ctx.Done()
			return nil
		})
	}()
	expect(t, m, map[string]float64{
		`leader_election_master_status{name="byhand"}`:  1,
		`leader_election_slowpath_total{name="byhand"}`: 1,
	})
	lost.Store(true)
	expect(t, m, map[string]float64{`leader_election_master_status{name="byhand"}`: 0})
}
