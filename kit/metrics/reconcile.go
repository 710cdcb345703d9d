package metrics

import (
	"context"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/controller"
)

// reconcileMetrics are kept for each controller.
type reconcileMetrics struct {
	total                 *prometheus.CounterVec
	errors, panics        *prometheus.CounterVec
	duration              *prometheus.HistogramVec
	active, maxConcurrent *prometheus.GaugeVec
}

func newReconcileMetrics(f promauto.Factory) reconcileMetrics {
	buckets := []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1,
		1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60}
	name := []string{"controller"}
	return reconcileMetrics{
		total:         f.NewCounterVec(prometheus.CounterOpts{Name: "controller_runtime_reconcile_total", Help: "Reconciles by result: success, requeue_after, requeue, error."}, []string{"controller", "result"}),
		errors:        f.NewCounterVec(prometheus.CounterOpts{Name: "controller_runtime_reconcile_errors_total", Help: "Reconciles that failed, panics included."}, name),
		panics:        f.NewCounterVec(prometheus.CounterOpts{Name: "controller_runtime_reconcile_panics_total", Help: "Reconciles that panicked."}, name),
		duration:      f.NewHistogramVec(prometheus.HistogramOpts{Name: "controller_runtime_reconcile_time_seconds", Help: "How long a reconcile takes.", Buckets: buckets}, name),
		active:        f.NewGaugeVec(prometheus.GaugeOpts{Name: "controller_runtime_active_workers", Help: "Workers that are reconciling."}, name),
		maxConcurrent: f.NewGaugeVec(prometheus.GaugeOpts{Name: "controller_runtime_max_concurrent_reconciles", Help: "Reconciles that may run at the same time."}, name),
	}
}

// begin sets the number of workers of a kind, and sets its counts to 0.
func (m *Metrics) begin(kind string, workers int) {
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

// Reconcile returns next with metrics for a kind. workers is the number of workers that call it.
func (m *Metrics) Reconcile(kind string, workers int, next controller.Reconcile) controller.Reconcile {
	m.begin(kind, workers)
	r, name := m.reconciles, strings.ToLower(kind)
	return func(ctx context.Context, key cache.ObjectName) (requeueAfter time.Duration, err error) {
		r.active.WithLabelValues(name).Inc()
		began, panicked := time.Now(), true // The controller recovers a panic.
		defer func() {
			r.active.WithLabelValues(name).Dec()
			r.duration.WithLabelValues(name).Observe(time.Since(began).Seconds())
			result := "success"
			switch {
			case panicked:
				r.panics.WithLabelValues(name).Inc()
				fallthrough
			case err != nil:
				result = "error"
				r.errors.WithLabelValues(name).Inc()
			case requeueAfter > 0:
				result = "requeue_after"
			}
			r.total.WithLabelValues(name, result).Inc()
		}()
		requeueAfter, err = next(ctx, key)
		panicked = false
		return requeueAfter, err
	}
}
