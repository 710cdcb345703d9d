package metrics

import (
	"context"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/controller"
	"example.com/byhand/internal/trace"
)

// reconcileMetrics are kept for each controller.
type reconcileMetrics struct {
	total                 *prometheus.CounterVec
	errors, panics        *prometheus.CounterVec
	duration              *prometheus.HistogramVec
	active, maxConcurrent *prometheus.GaugeVec
}

func newReconcileMetrics(f factory) reconcileMetrics {
	buckets := []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1,
		1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60}
	return reconcileMetrics{
		total:         f.counter("controller_runtime_reconcile_total", "Reconciles by result: success, requeue_after, requeue, error.", "controller", "result"),
		errors:        f.counter("controller_runtime_reconcile_errors_total", "Reconciles that failed, panics included.", "controller"),
		panics:        f.counter("controller_runtime_reconcile_panics_total", "Reconciles that panicked.", "controller"),
		duration:      f.histogram("controller_runtime_reconcile_time_seconds", "How long a reconcile takes.", buckets, "controller"),
		active:        f.gauge("controller_runtime_active_workers", "Workers that are reconciling.", "controller"),
		maxConcurrent: f.gauge("controller_runtime_max_concurrent_reconciles", "Reconciles that may run at the same time.", "controller"),
	}
}

// Workers sets the number of workers that reconcile a kind, and begins its counts at 0.
func (m *Metrics) Workers(kind string, workers int) {
	r, name := m.reconciles, strings.ToLower(kind)
	r.maxConcurrent.WithLabelValues(name).Set(float64(workers))
	r.active.WithLabelValues(name)
	r.duration.WithLabelValues(name)
	r.errors.WithLabelValues(name)
	r.panics.WithLabelValues(name)
	// "requeue" is there for dashboards, and always 0.
	for _, result := range []string{"success", "requeue_after", "requeue", "error"} {
		r.total.WithLabelValues(name, result)
	}
}

// Reconcile counts what next does for a kind, with so many workers.
func (m *Metrics) Reconcile(kind string, workers int, next controller.Reconcile) controller.Reconcile {
	m.Workers(kind, workers)
	return func(ctx context.Context, key cache.ObjectName) (requeueAfter time.Duration, err error) {
		m.Step(&trace.Step{Part: trace.PartReconcile, Kind: kind, What: trace.Started})
		began, end := time.Now(), &trace.Step{Part: trace.PartReconcile, Kind: kind, What: trace.Failed, Panicked: true}
		// A panic is not recovered: that is for the controller to do.
		defer func() {
			end.Took = time.Since(began)
			m.Step(end)
		}()
		requeueAfter, err = next(ctx, key)
		if end.Requeue, end.Panicked = requeueAfter, false; err == nil {
			end.What = trace.Ended
		}
		return requeueAfter, err
	}
}

// Step counts the steps of reconciles. Its controller is the kind in small letters.
func (m *Metrics) Step(step *trace.Step) {
	if step.Part != trace.PartReconcile {
		return
	}
	r, name := m.reconciles, strings.ToLower(step.Kind)
	if step.What == trace.Started {
		r.active.WithLabelValues(name).Inc()
		return
	}
	r.active.WithLabelValues(name).Dec()
	if step.Panicked {
		r.panics.WithLabelValues(name).Inc()
	}
	r.duration.WithLabelValues(name).Observe(step.Took.Seconds())
	result := "success"
	switch {
	case step.What != trace.Ended:
		result = "error"
		r.errors.WithLabelValues(name).Inc()
	case step.Requeue > 0:
		result = "requeue_after"
	}
	r.total.WithLabelValues(name, result).Inc()
}
