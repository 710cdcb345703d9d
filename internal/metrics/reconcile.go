package metrics

import (
	"context"
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

func newReconcileMetrics(factory promauto.Factory) reconcileMetrics {
	labels := []string{"controller"}
	return reconcileMetrics{
		total: factory.NewCounterVec(prometheus.CounterOpts{
			Name: "controller_runtime_reconcile_total", Help: "Reconciles by result: success, requeue_after, requeue, error."}, []string{"controller", "result"}),
		errors: factory.NewCounterVec(prometheus.CounterOpts{
			Name: "controller_runtime_reconcile_errors_total", Help: "Reconciles that failed, panics included."}, labels),
		panics: factory.NewCounterVec(prometheus.CounterOpts{
			Name: "controller_runtime_reconcile_panics_total", Help: "Reconciles that panicked."}, labels),
		duration: factory.NewHistogramVec(prometheus.HistogramOpts{
			Name: "controller_runtime_reconcile_time_seconds", Help: "How long a reconcile takes.",
			Buckets: []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1,
				1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60}}, labels),
		active: factory.NewGaugeVec(prometheus.GaugeOpts{
			Name: "controller_runtime_active_workers", Help: "Workers that are reconciling."}, labels),
		maxConcurrent: factory.NewGaugeVec(prometheus.GaugeOpts{
			Name: "controller_runtime_max_concurrent_reconciles", Help: "Workers that there are."}, labels),
	}
}

// Reconcile counts and times each call of next, for the controller of this name
// with that many workers, and changes nothing else. A panic of next counts as an
// error, too, and goes on to the caller with its stack as it is.
func (m *Metrics) Reconcile(name string, workers int, next controller.Reconcile) controller.Reconcile {
	r := m.reconciles
	r.maxConcurrent.WithLabelValues(name).Set(float64(workers))
	active, duration := r.active.WithLabelValues(name), r.duration.WithLabelValues(name)
	errors, panics := r.errors.WithLabelValues(name), r.panics.WithLabelValues(name)
	success, again := r.total.WithLabelValues(name, "success"), r.total.WithLabelValues(name, "requeue_after")
	failed := r.total.WithLabelValues(name, "error")
	// Not one of ours: there for dashboards, and always 0.
	r.total.WithLabelValues(name, "requeue")

	return func(ctx context.Context, key cache.ObjectName) (after time.Duration, err error) {
		start, returned := time.Now(), false
		active.Inc()
		// A panic is not recovered: that is for the caller to do.
		defer func() {
			active.Dec()
			duration.Observe(time.Since(start).Seconds())
			switch {
			case !returned:
				panics.Inc()
				errors.Inc()
				failed.Inc()
			case err != nil:
				errors.Inc()
				failed.Inc()
			case after > 0:
				again.Inc()
			default:
				success.Inc()
			}
		}()
		after, err = next(ctx, key)
		returned = true
		return after, err
	}
}
