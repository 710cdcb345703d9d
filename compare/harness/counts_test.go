package main

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

const metricsText = `# HELP apiserver_request_total [STABLE] Counter of requests.
# TYPE apiserver_request_total counter
apiserver_request_total{code="201",component="apiserver",dry_run="",group="apps",resource="deployments",scope="resource",subresource="",verb="POST",version="v1"} 1000
apiserver_request_total{code="200",component="apiserver",dry_run="",group="samplecontroller.k8s.io",resource="foos",scope="resource",subresource="status",verb="PUT",version="v1alpha1"} 1.003e+03
apiserver_request_total{code="409",component="apiserver",dry_run="",group="samplecontroller.k8s.io",resource="foos",scope="resource",subresource="status",verb="PUT",version="v1alpha1"} 3
apiserver_request_total{code="200",component="apiserver",dry_run="",group="samplecontroller.k8s.io",resource="foos",scope="cluster",subresource="",verb="LIST",version="v1alpha1"} 2
apiserver_request_total{code="0",component="apiserver",dry_run="",group="apps",resource="deployments",scope="cluster",subresource="",verb="WATCH",version="v1"} 1
apiserver_request_total{code="201",component="apiserver",dry_run="",group="",resource="events",scope="resource",subresource="",verb="POST",version="v1"} 40
apiserver_request_total{code="201",component="apiserver",dry_run="",group="events.k8s.io",resource="events",scope="resource",subresource="",verb="POST",version="v1"} 2
apiserver_request_total{code="200",component="apiserver",dry_run="",group="coordination.k8s.io",resource="leases",scope="resource",subresource="",verb="PUT",version="v1"} 9
# TYPE apiserver_request_total_of_something_else counter
apiserver_request_total_of_something_else{code="200"} 77
# TYPE etcd_requests_total counter
etcd_requests_total{operation="get"} 12
`

func TestCounts(t *testing.T) {
	c, err := parseCounts([]byte(metricsText))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{"writes": c.objectWrites(), "409s": c.conflicts(), "reads": c.objectReads(), "events": c.events()}
	if diff := cmp.Diff(map[string]int{"writes": 2006, "409s": 3, "reads": 3, "events": 42}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// Leases and others are no objects of a controller's work.
	want := "LIST foos 200 × 2, POST deployments 201 × 1000, POST events 201 × 42, PUT foos/status 200 × 1003, PUT foos/status 409 × 3, WATCH deployments 0 × 1"
	if got := c.String(); got != want {
		t.Errorf("text\n%s\nwant\n%s", got, want)
	}
}

// The counts are those after a second without a write, and the last moment is known
// before which there was not yet one.
func TestSettled(t *testing.T) {
	for _, test := range []struct {
		reason   string
		writes   []int // at each look; then as the last
		atMost   time.Duration
		want     int
		busy     time.Duration // since the first look; 0: there was no write after it
		lastsFor time.Duration
	}{
		{"nothing comes", []int{5}, time.Minute, 5, 0, time.Second},
		{"one comes at once", []int{5, 6}, time.Minute, 6, -1, 1500 * time.Millisecond},
		{"they come for a while, with a pause", []int{5, 6, 6, 7, 9}, time.Minute, 9, 1500 * time.Millisecond, 3 * time.Second},
		{"they come for ever", []int{1, 2, 3, 4, 5, 6, 7, 8, 9}, 2 * time.Second, 5, 1500 * time.Millisecond, 2 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			begin, looks := time.Now(), 0
			now, busy, err := settle(t.Context(), test.atMost, func(context.Context) (counts, error) {
				looks++
				return counts{{"PUT", "foos", "status", "200"}: test.writes[min(looks, len(test.writes))-1]}, nil
			})
			var wantBusy time.Time
			switch {
			case test.busy < 0:
				wantBusy = begin
			case test.busy > 0:
				wantBusy = begin.Add(test.busy)
			}
			if err != nil || now.objectWrites() != test.want || !busy.Equal(wantBusy) || time.Since(begin) != test.lastsFor {
				t.Errorf("%s: %v, busy until %s, error %v, after %s; want %d, %s, none, after %s",
					test.reason, now, busy.Sub(begin), err, time.Since(begin), test.want, wantBusy.Sub(begin), test.lastsFor)
			}
		})
	}
}

func TestCountsNeedTheMetric(t *testing.T) {
	if c, err := parseCounts([]byte("# TYPE etcd_requests_total counter\netcd_requests_total 12\n")); err == nil {
		t.Errorf("no error, but %v", c)
	}
}

func TestCountsDifference(t *testing.T) {
	post, put := request{"POST", "deployments", "", "201"}, request{"PUT", "foos", "status", "200"}
	got := counts{post: 5, put: 7}.minus(counts{post: 5, put: 3})
	if diff := cmp.Diff(counts{put: 4}, got); diff != "" {
		t.Errorf("minus (-want +got):\n%s", diff)
	}
	// What the harness itself has sent is not the peer's, but no more than that.
	patch := request{"PATCH", "foos", "", "200"}
	got = counts{patch: 12, put: 4}.without(10, func(r request) bool { return r == patch })
	if diff := cmp.Diff(counts{patch: 2, put: 4}, got); diff != "" {
		t.Errorf("without (-want +got):\n%s", diff)
	}
}
