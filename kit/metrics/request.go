package metrics

import (
	"context"
	"net/url"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// requestMetrics are kept for all REST clients of the process together.
type requestMetrics struct {
	requests, retries       *prometheus.CounterVec
	duration, limitDuration *prometheus.HistogramVec
}

func newRequestMetrics(f factory) requestMetrics {
	buckets := []float64{0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60}
	return requestMetrics{
		requests:      f.counter("rest_client_requests_total", "Requests to the API server, each try counted, by status code, method and host. The code is <error> where no answer came.", "code", "method", "host"),
		retries:       f.counter("rest_client_request_retries_total", "Tries of a request after its first, by status code, method and host.", "code", "verb", "host"),
		duration:      f.histogram("rest_client_request_duration_seconds", "How long requests take, retries included and watches left out, by method and host.", buckets, "verb", "host"),
		limitDuration: f.histogram("rest_client_rate_limiter_duration_seconds", "How long requests wait for the client's own rate limit, by method and host.", buckets, "verb", "host"),
	}
}

// The hooks are called by every request of every REST client. They keep only the
// host of a URL, because paths contain object names.
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
