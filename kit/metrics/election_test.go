package metrics_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"

	"example.com/byhand/kit/metrics"
)

// lead makes this process the leader and lets one renewal fail, so that the next
// reads the Lease again. lose makes all further renewals fail.
func lead(t *testing.T, m *metrics.Metrics) (lose func()) {
	t.Helper()
	client := kubefake.NewClientset()
	var failed, lost atomic.Bool
	client.PrependReactor("update", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
		return lost.Load() || failed.CompareAndSwap(false, true), nil, errors.New("told to fail")
	})
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: "default", Name: "byhand"},
			Client:     client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: "me"},
		},
		Name: "byhand", LeaseDuration: time.Minute, RenewDeadline: 500 * time.Millisecond, RetryPeriod: 10 * time.Millisecond,
		Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) {}, OnStoppedLeading: func() {}},
	})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, m, map[string]float64{`leader_election_master_status{name="byhand"}`: 0})

	// Its log would be long, and it is not what is looked at.
	runUntilEnd(t, func(ctx context.Context) { elector.Run(klog.NewContext(ctx, klog.Logger{})) })
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
