package metrics

import (
	"context"
	"net/url"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// requestMetrics are kept for all REST clients of the process together.
type requestMetrics struct {
	requests, retries       *prometheus.CounterVec
	duration, limitDuration *prometheus.HistogramVec
}

func newRequestMetrics(factory promauto.Factory) requestMetrics {
	buckets := []float64{0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60}
	return requestMetrics{
		requests: factory.NewCounterVec(prometheus.CounterOpts{
			Name: "rest_client_requests_total", Help: "Requests to the API server, each try counted, by status code, method and host. The code is <error> where no answer came."}, []string{"code", "method", "host"}),
		retries: factory.NewCounterVec(prometheus.CounterOpts{
			Name: "rest_client_request_retries_total", Help: "Tries of a request after its first, by status code, method and host."}, []string{"code", "verb", "host"}),
		duration: factory.NewHistogramVec(prometheus.HistogramOpts{
			Name: "rest_client_request_duration_seconds", Help: "How long requests take, retries included and watches left out, by method and host.", Buckets: buckets}, []string{"verb", "host"}),
		limitDuration: factory.NewHistogramVec(prometheus.HistogramOpts{
			Name: "rest_client_rate_limiter_duration_seconds", Help: "How long requests wait for the client's own rate limit, by method and host.", Buckets: buckets}, []string{"verb", "host"}),
	}
}

// The hooks are called by every request of every REST client. Of a URL they keep
// the host alone: paths hold the names of objects.
type (
	resultHook   struct{}
	retryHook    struct{}
	durationHook struct{}
	limiterHook  struct{}
)

func (resultHook) Increment(_ context.Context, code, method, host string) {
	latest.Load().requests.requests.WithLabelValues(code, method, host).Inc()
}

func (retryHook) IncrementRetry(_ context.Context, code, method, host string) {
	latest.Load().requests.retries.WithLabelValues(code, method, host).Inc()
}

func (durationHook) Observe(_ context.Context, verb string, url url.URL, took time.Duration) {
	latest.Load().requests.duration.WithLabelValues(verb, url.Host).Observe(took.Seconds())
}

func (limiterHook) Observe(_ context.Context, verb string, url url.URL, waited time.Duration) {
	latest.Load().requests.limitDuration.WithLabelValues(verb, url.Host).Observe(waited.Seconds())
}
