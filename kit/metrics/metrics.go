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
	return &Metrics{registry: registry, reconciles: newReconcileMetrics(promauto.With(registry))}
}

// Handler answers a scrape. Simultaneous scrapes share one read of the stores. A metric that cannot be
// collected does not hide the others.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(prometheus.Gatherers{legacyregistry.DefaultGatherer, m.registry}, promhttp.HandlerOpts{
		ErrorHandling:  promhttp.ContinueOnError,
		CoalesceGather: true,
	})
}
