package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"k8s.io/client-go/rest"

	"example.com/byhand/internal/requests"
)

// serversCPU returns the processor time that the API server and etcd have used, in seconds.
func (s *server) serversCPU(ctx context.Context) (sum float64, err error) {
	client, err := rest.HTTPClientFor(s.Config)
	if err != nil {
		return 0, err
	}
	for _, server := range []string{s.Config.Host, s.etcd} {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, server+"/metrics", nil)
		if err != nil {
			return 0, err
		}
		response, err := client.Do(request)
		if err != nil {
			return 0, err
		}
		text, err := io.ReadAll(response.Body)
		if err := errors.Join(err, response.Body.Close()); err != nil {
			return 0, err
		}
		used := cpuMetric.FindSubmatch(text)
		if used == nil {
			return 0, fmt.Errorf("the metrics of %s have no processor time (%s)", server, response.Status)
		}
		seconds, err := strconv.ParseFloat(string(used[1]), 64)
		if err != nil {
			return 0, err
		}
		sum += seconds
	}
	return sum, nil
}

var cpuMetric = regexp.MustCompile(`(?m)^process_cpu_seconds_total (\S+)$`)

func (s *server) counts(ctx context.Context) (requests.Counts, error) {
	return requests.Read(ctx, s.Kube.Discovery().RESTClient())
}

// settled waits until the API server has counted no write of a Foo or Deployment
// for a second, but at most for ten (a peer that resyncs every 30 s and sends 5 requests
// a second never stops), and returns the counts. busy is the last moment at which a write
// was still to come, zero if none came: the last one was not earlier, and hardly more
// than half a second later.
func (s *server) settled(ctx context.Context) (now requests.Counts, busy time.Time, err error) {
	return settle(ctx, 10*time.Second, s.counts)
}

func settle(ctx context.Context, atMost time.Duration, look func(context.Context) (requests.Counts, error)) (now requests.Counts, busy time.Time, err error) {
	const quiet, pause = time.Second, time.Second / 2
	begin := time.Now()
	now, err = look(ctx)
	last, changed := begin, begin
	for err == nil && last.Sub(begin) < atMost && last.Sub(changed) < quiet {
		select {
		case <-ctx.Done():
			return nil, busy, context.Cause(ctx)
		case <-time.After(pause):
		}
		before, asked := now, time.Now()
		if now, err = look(ctx); err == nil && now.Writes().Sum() != before.Writes().Sum() {
			busy, changed = last, asked
		}
		last = asked
	}
	return now, busy, err
}
