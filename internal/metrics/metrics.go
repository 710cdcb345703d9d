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

// Metrics is one set of metrics, in a registry of its own. It is safe for
// concurrent use.
type Metrics struct {
	registry   *prometheus.Registry
	queues     queueMetrics
	requests   requestMetrics
	reconciles reconcileMetrics
	election   electionMetrics
}

// latest is what client-go's hooks report to.
var latest atomic.Pointer[Metrics]

// New returns a new set of metrics and makes client-go report to it from now on.
// Call it once in a process, before the first queue, client and elector are
// made: these ask for their metrics when they are made. Where it is called
// again, in a test, the newest set takes over; sets that are there already keep
// what they have counted.
func New() *Metrics {
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		collectors.NewBuildInfoCollector(),
	)
	factory := promauto.With(registry)
	m := &Metrics{
		registry:   registry,
		queues:     newQueueMetrics(factory),
		requests:   newRequestMetrics(factory),
		reconciles: newReconcileMetrics(factory),
		election:   newElectionMetrics(factory),
	}
	latest.Store(m)
	install()
	return m
}

// install sets client-go's hooks. Each of them only heeds its first call.
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

// Handler answers a scrape. Scrapes that come at the same time share one look at
// the stores. A metric that cannot be collected does not hide the others.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorHandling:  promhttp.ContinueOnError,
		CoalesceGather: true,
	})
}
