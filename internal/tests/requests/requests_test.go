package requests_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/byhand/internal/tests/requests"
)

const metrics = `# HELP apiserver_request_total [STABLE] Counter of requests.
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
	c, err := requests.Parse(metrics)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{"writes": c.Writes().Sum(), "409s": c.Conflicts().Sum()}
	if diff := cmp.Diff(map[string]int{"writes": 2006, "409s": 3}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	put := requests.Request{Verb: "PUT", Resource: "foos", Subresource: "status", Code: "200"}
	if got := c[put]; got != 1003 {
		t.Errorf("%+v: %d, want 1003", put, got)
	}
}

func TestMinus(t *testing.T) {
	post, put := requests.Request{Verb: "POST", Resource: "deployments"}, requests.Request{Verb: "PUT", Resource: "foos"}
	got := requests.Counts{post: 5, put: 7}.Minus(requests.Counts{post: 5, put: 3})
	if diff := cmp.Diff(requests.Counts{put: 4}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Without the metric there is nothing to count, which is not the same as zero.
func TestParseNeedsTheMetric(t *testing.T) {
	if c, err := requests.Parse("# TYPE etcd_requests_total counter\netcd_requests_total 12\n"); err == nil {
		t.Errorf("no error, but %v", c)
	}
}
