package main

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"time"

	"example.com/byhand/internal/requests"
)

var cpuMetric = regexp.MustCompile(`(?m)^process_cpu_seconds_total .*$`)

// metrics returns what the API server has answered, and the processor time that it and etcd have
// used, in seconds.
func (s *server) metrics(ctx context.Context) (counts requests.Counts, cpu float64, err error) {
	own, err := s.Kube.Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return nil, 0, fmt.Errorf("metrics of the API server: %w", err)
	}
	etcd, err := s.askEtcd(ctx, http.MethodGet, "/metrics", nil)
	if err != nil {
		return nil, 0, err
	}
	for _, text := range [][]byte{own, etcd} {
		var name string
		var seconds float64
		if _, err := fmt.Sscan(string(cpuMetric.Find(text)), &name, &seconds); err != nil {
			return nil, 0, fmt.Errorf("processor time in the metrics: %w", err)
		}
		cpu += seconds
	}
	counts, err = requests.Parse(string(own))
	return counts, cpu, err
}

// settled waits until the API server has counted no write of a Foo or Deployment
// for a second, but at most for ten (a peer that resyncs every 30 s and sends 5 requests
// a second never stops). busy is the last moment at which a write was still to come, and at
// least since: the last one was not earlier, and hardly more than half a second later.
func (s *server) settled(ctx context.Context, since time.Time) (busy time.Time, err error) {
	return settle(ctx, since, 10*time.Second, func(ctx context.Context) (int, error) {
		counts, err := requests.Read(ctx, s.Kube.Discovery().RESTClient())
		return counts.Writes().Sum(), err
	})
}

func settle(ctx context.Context, busy time.Time, atMost time.Duration, writes func(context.Context) (int, error)) (time.Time, error) {
	const quiet, pause = time.Second, time.Second / 2
	begin := time.Now()
	now, err := writes(ctx)
	last, changed := begin, begin
	for err == nil && last.Sub(begin) < atMost && last.Sub(changed) < quiet {
		select {
		case <-ctx.Done():
			return busy, context.Cause(ctx)
		case <-time.After(pause):
		}
		before, asked := now, time.Now()
		if now, err = writes(ctx); now != before {
			busy, changed = last, asked
		}
		last = asked
	}
	return busy, err
}
