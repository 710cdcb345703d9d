package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/util/workqueue"
)

// queueMetrics are kept for each queue that has a name.
type queueMetrics struct {
	depth, unfinished, longestRunning *prometheus.GaugeVec
	adds, retries                     *prometheus.CounterVec
	queueDuration, workDuration       *prometheus.HistogramVec
}

func newQueueMetrics(f factory) queueMetrics {
	// From 10 ns to 17 minutes: in a cold start with many objects a key waits long.
	buckets := prometheus.ExponentialBuckets(10e-9, 10, 12)
	return queueMetrics{
		depth:          f.gauge("workqueue_depth", "Keys that wait in the queue.", "name"),
		adds:           f.counter("workqueue_adds_total", "Keys added to the queue, those already in it not counted.", "name"),
		retries:        f.counter("workqueue_retries_total", "Keys that were to be added after a delay.", "name"),
		queueDuration:  f.histogram("workqueue_queue_duration_seconds", "How long a key waits in the queue before a worker takes it.", buckets, "name"),
		workDuration:   f.histogram("workqueue_work_duration_seconds", "How long a worker has a key.", buckets, "name"),
		unfinished:     f.gauge("workqueue_unfinished_work_seconds", "Total time that workers have had their current keys. Grows by one second per second and key.", "name"),
		longestRunning: f.gauge("workqueue_longest_running_processor_seconds", "How long the worker with the longest running reconcile has had its key.", "name"),
	}
}

// queueHook provides the metrics of each new queue.
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
