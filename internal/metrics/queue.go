package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"k8s.io/client-go/util/workqueue"
)

// queueMetrics are kept for each queue that has a name.
type queueMetrics struct {
	depth, unfinished, longestRunning *prometheus.GaugeVec
	adds, retries                     *prometheus.CounterVec
	queueDuration, workDuration       *prometheus.HistogramVec
}

func newQueueMetrics(factory promauto.Factory) queueMetrics {
	labels := []string{"name"}
	// From 10 ns to 17 minutes: in a cold start with many objects a key waits long.
	buckets := prometheus.ExponentialBuckets(10e-9, 10, 12)
	return queueMetrics{
		depth: factory.NewGaugeVec(prometheus.GaugeOpts{
			Name: "workqueue_depth", Help: "Keys that wait in the queue."}, labels),
		adds: factory.NewCounterVec(prometheus.CounterOpts{
			Name: "workqueue_adds_total", Help: "Keys added to the queue, those already in it not counted."}, labels),
		retries: factory.NewCounterVec(prometheus.CounterOpts{
			Name: "workqueue_retries_total", Help: "Keys that were to be added after a delay."}, labels),
		queueDuration: factory.NewHistogramVec(prometheus.HistogramOpts{
			Name: "workqueue_queue_duration_seconds", Help: "How long a key waits in the queue before a worker takes it.", Buckets: buckets}, labels),
		workDuration: factory.NewHistogramVec(prometheus.HistogramOpts{
			Name: "workqueue_work_duration_seconds", Help: "How long a worker has a key.", Buckets: buckets}, labels),
		unfinished: factory.NewGaugeVec(prometheus.GaugeOpts{
			Name: "workqueue_unfinished_work_seconds", Help: "How long the workers have had the keys that they have, in sum. Grows by one per second for each worker that is stuck."}, labels),
		longestRunning: factory.NewGaugeVec(prometheus.GaugeOpts{
			Name: "workqueue_longest_running_processor_seconds", Help: "How long the slowest worker has had its key."}, labels),
	}
}

// queueHook is what a queue asks for its metrics when it is made.
type queueHook struct{}

func (queueHook) NewDepthMetric(name string) workqueue.GaugeMetric {
	return latest.Load().queues.depth.WithLabelValues(name)
}

func (queueHook) NewAddsMetric(name string) workqueue.CounterMetric {
	return latest.Load().queues.adds.WithLabelValues(name)
}

func (queueHook) NewRetriesMetric(name string) workqueue.CounterMetric {
	return latest.Load().queues.retries.WithLabelValues(name)
}

func (queueHook) NewLatencyMetric(name string) workqueue.HistogramMetric {
	return latest.Load().queues.queueDuration.WithLabelValues(name)
}

func (queueHook) NewWorkDurationMetric(name string) workqueue.HistogramMetric {
	return latest.Load().queues.workDuration.WithLabelValues(name)
}

func (queueHook) NewUnfinishedWorkSecondsMetric(name string) workqueue.SettableGaugeMetric {
	return latest.Load().queues.unfinished.WithLabelValues(name)
}

func (queueHook) NewLongestRunningProcessorSecondsMetric(name string) workqueue.SettableGaugeMetric {
	return latest.Load().queues.longestRunning.WithLabelValues(name)
}
