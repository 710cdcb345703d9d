package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/tools/leaderelection"
)

// electionMetrics are kept for each Lease for which this process competes.
type electionMetrics struct {
	leading  *prometheus.GaugeVec
	slowpath *prometheus.CounterVec
}

func newElectionMetrics(f factory) electionMetrics {
	return electionMetrics{
		leading:  f.gauge("leader_election_master_status", "1 while this process holds the Lease, else 0.", "name"),
		slowpath: f.counter("leader_election_slowpath_total", "Renewals of the Lease that had to read it again, the quick write having failed.", "name"),
	}
}

// electionHook implements client-go's provider of leader election metrics, and the metric.
type electionHook struct{}

func (electionHook) NewLeaderMetric() leaderelection.LeaderMetric { return electionHook{} }

func (electionHook) On(name string)  { latest.Load().election.leading.WithLabelValues(name).Set(1) }
func (electionHook) Off(name string) { latest.Load().election.leading.WithLabelValues(name).Set(0) }
func (electionHook) SlowpathExercised(name string) {
	latest.Load().election.slowpath.WithLabelValues(name).Inc()
}
