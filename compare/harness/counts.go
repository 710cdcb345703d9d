package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// request is a sort of request: what apiserver_request_total tells apart.
type request struct {
	verb, resource, subresource, code string
}

func (r request) String() string {
	text := r.verb + " " + r.resource
	if r.subresource != "" {
		text += "/" + r.subresource
	}
	return text + " " + r.code
}

// object says whether it concerns a Foo or a Deployment.
func (r request) object() bool { return r.resource == "foos" || r.resource == "deployments" }

func (r request) read() bool { return slices.Contains([]string{"GET", "LIST", "WATCH"}, r.verb) }

// counts is how many requests of each sort an API server has answered.
type counts map[request]int

// counts asks the API server. Never during a measurement: the answer costs it time.
func (s *server) counts(ctx context.Context) (counts, error) {
	text, err := s.kube.Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return nil, fmt.Errorf("metrics of the API server: %w", err)
	}
	return parseCounts(text)
}

const requestTotal = "apiserver_request_total"

// parseCounts reads an API server's metrics.
func parseCounts(text []byte) (counts, error) {
	// Of the megabytes only what is wanted.
	var wanted bytes.Buffer
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if strings.HasPrefix(line, requestTotal+"{") || strings.HasPrefix(line, "# TYPE "+requestTotal+" ") {
			fmt.Fprintln(&wanted, line)
		}
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(&wanted)
	if err != nil {
		return nil, fmt.Errorf("metrics of the API server: %w", err)
	}
	if families[requestTotal] == nil {
		return nil, fmt.Errorf("metrics of the API server: no %s", requestTotal)
	}
	total := counts{}
	for _, metric := range families[requestTotal].Metric {
		label := map[string]string{}
		for _, pair := range metric.Label {
			label[pair.GetName()] = pair.GetValue()
		}
		total[request{label["verb"], label["resource"], label["subresource"], label["code"]}] += int(metric.GetCounter().GetValue())
	}
	return total, nil
}

func (c counts) minus(before counts) counts {
	difference := counts{}
	for what, n := range c {
		if n -= before[what]; n != 0 {
			difference[what] = n
		}
	}
	return difference
}

func (c counts) sum(match func(request) bool) (n int) {
	for what, times := range c {
		if match(what) {
			n += times
		}
	}
	return n
}

// objectWrites counts the writes of Foos and Deployments, refused ones included.
func (c counts) objectWrites() int {
	return c.sum(func(r request) bool { return r.object() && !r.read() })
}

// objectReads counts the reads of Foos and Deployments. A watch counts when it ends.
func (c counts) objectReads() int {
	return c.sum(func(r request) bool { return r.object() && r.read() })
}

// conflicts counts the writes of Foos and Deployments that were refused with 409.
func (c counts) conflicts() int {
	return c.sum(func(r request) bool { return r.object() && !r.read() && r.code == "409" })
}

func (c counts) events() int {
	return c.sum(func(r request) bool { return r.resource == "events" && !r.read() })
}

// String lists the requests about objects and Events.
func (c counts) String() string {
	var lines []string
	for what, n := range c {
		if what.object() || what.resource == "events" {
			lines = append(lines, fmt.Sprintf("%s × %d", what, n))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, ", ")
}

// settled waits until the API server has counted no write of a Foo or Deployment
// for a second, but at most for this long, and returns the counts. busy is the last
// moment at which a write was still to come, zero if none came: the last one was not
// earlier, and hardly more than half a second later.
func (s *server) settled(ctx context.Context, atMost time.Duration) (now counts, busy time.Time, err error) {
	return settle(ctx, atMost, s.counts)
}

func settle(ctx context.Context, atMost time.Duration, look func(context.Context) (counts, error)) (now counts, busy time.Time, err error) {
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
		if now, err = look(ctx); err == nil && now.objectWrites() != before.objectWrites() {
			busy, changed = last, asked
		}
		last = asked
	}
	return now, busy, err
}
