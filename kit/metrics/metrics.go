package metrics

import (
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/metrics"
	"k8s.io/client-go/util/workqueue"
)

// Metrics is one set of metrics with its own registry. It is safe for concurrent
// use.
type Metrics struct {
	registry   *prometheus.Registry
	queues     queueMetrics
	requests   requestMetrics
	reconciles reconcileMetrics
	election   electionMetrics
}

// latest receives the reports of client-go's hooks.
var latest atomic.Pointer[Metrics]

// New returns a new set of metrics and makes client-go report to it from now on.
// Call it once in a process, before the first queue, client and elector are
// created, because these request their metrics at creation. If it is called
// again, as in tests, new queues, clients and electors report to the newest set;
// older sets keep their counts.
func New() *Metrics {
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		collectors.NewBuildInfoCollector(),
	)
	f := factory{promauto.With(registry)}
	m := &Metrics{
		registry:   registry,
		queues:     newQueueMetrics(f),
		requests:   newRequestMetrics(f),
		reconciles: newReconcileMetrics(f),
		election:   newElectionMetrics(f),
	}
	latest.Store(m)
	install()
	return m
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

// install sets client-go's hooks. Only the first call of each has an effect.
var install = sync.OnceFunc(func() {
	workqueue.SetProvider(queueHook{})
	metrics.Register(metrics.RegisterOpts{
		RequestResult:      resultHook{},
		RequestRetry:       retryHook{},
		RequestLatency:     durationHook{},
		RateLimiterLatency: limiterHook{},
	})
	leaderelection.SetProvider(electionHook{})
})

// Handler answers a scrape. Simultaneous scrapes share one read of the stores. A metric that cannot be
// collected does not hide the others.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorHandling:  promhttp.ContinueOnError,
		CoalesceGather: true,
	})
}
