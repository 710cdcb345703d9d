package metrics

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"k8s.io/component-base/metrics/legacyregistry"
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // sets client-go's hooks
)

// Metrics is one set of metrics. It is safe for concurrent use.
type Metrics struct {
	registry   *prometheus.Registry
	reconciles reconcileMetrics
}

// New returns a new set of metrics. Call it once in a process, before the first queue, client and elector are
// created. If it is called again, as in tests, the counts of queues, requests and elections start again.
func New() *Metrics {
	legacyregistry.Reset()
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewBuildInfoCollector())
	return &Metrics{registry: registry, reconciles: newReconcileMetrics(factory{promauto.With(registry)})}
}

type factory struct{ promauto.Factory }

func (f factory) gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	return f.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
}

func (f factory) counter(name, help string, labels ...string) *prometheus.CounterVec {
	return f.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

func (f factory) histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return f.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
}

// Handler answers a scrape. Simultaneous scrapes share one read of the stores. A metric that cannot be
// collected does not hide the others.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(prometheus.Gatherers{legacyregistry.DefaultGatherer, m.registry}, promhttp.HandlerOpts{
		ErrorHandling:  promhttp.ContinueOnError,
		CoalesceGather: true,
	})
}
