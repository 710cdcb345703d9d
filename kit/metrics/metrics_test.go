package metrics_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/controller"
	"example.com/byhand/kit/metrics"
)

// deadline is how long a test waits for what must happen.
const deadline = 10 * time.Second

var key = cache.NewObjectName("default", "one")

// scrape returns what Prometheus would read.
func scrape(t *testing.T, m *metrics.Metrics) string {
	t.Helper()
	answer := httptest.NewRecorder()
	m.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if answer.Code != http.StatusOK {
		t.Fatalf("code %d: %s", answer.Code, answer.Body)
	}
	return answer.Body.String()
}

var sample = regexp.MustCompile(`(?m)^([a-z_]+)(\{.*\})? (\S+)$`)

// series returns the value of each series of a scrape.
func series(t *testing.T, scraped string) map[string]float64 {
	t.Helper()
	values := map[string]float64{}
	for _, match := range sample.FindAllStringSubmatch(scraped, -1) {
		value, err := strconv.ParseFloat(match[3], 64)
		if err != nil {
			t.Fatalf("%s: %v", match[0], err)
		}
		values[match[1]+match[2]] = value
	}
	return values
}

// expect fails the test unless these series have these values.
func expect(t *testing.T, m *metrics.Metrics, want map[string]float64) {
	t.Helper()
	all, got := series(t, scrape(t, m)), map[string]float64{}
	for name := range want {
		if value, exists := all[name]; exists {
			got[name] = value
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
}

// await waits until a series satisfies the condition.
func await(t *testing.T, m *metrics.Metrics, name string, condition func(float64) bool) {
	t.Helper()
	var last float64
	err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, deadline, true, func(context.Context) (bool, error) {
		last = series(t, scrape(t, m))[name]
		return condition(last), nil
	})
	if err != nil {
		t.Fatalf("%s is still %v after %s", name, last, deadline)
	}
}

func is(want float64) func(float64) bool { return func(got float64) bool { return got == want } }

// shape returns the type and the labels of each metric of a scrape, as
// "counter code,host".
func shape(t *testing.T, scraped string) map[string]string {
	t.Helper()
	// The lines of a metric follow the one that says its type.
	shapes := map[string]string{}
	for _, family := range strings.Split(scraped, "# TYPE ")[1:] {
		var name, kind string
		if _, err := fmt.Sscan(family, &name, &kind); err != nil {
			t.Fatal(err)
		}
		labels := map[string]bool{}
		for _, label := range labelName.FindAllStringSubmatch(family, -1) {
			labels[label[1]] = true
		}
		delete(labels, "le") // the bucket of a histogram
		delete(labels, "quantile")
		shapes[name] = strings.TrimSpace(kind + " " + strings.Join(slices.Sorted(maps.Keys(labels)), ","))
	}
	return shapes
}

var labelName = regexp.MustCompile(`[{,](\w+)="`)

// everything is what dashboards look for: each change here breaks somebody's.
var everything = map[string]string{
	"workqueue_depth":                             "gauge name",
	"workqueue_adds_total":                        "counter name",
	"workqueue_retries_total":                     "counter name",
	"workqueue_queue_duration_seconds":            "histogram name",
	"workqueue_work_duration_seconds":             "histogram name",
	"workqueue_unfinished_work_seconds":           "gauge name",
	"workqueue_longest_running_processor_seconds": "gauge name",

	"rest_client_requests_total":                "counter code,host,method",
	"rest_client_request_retries_total":         "counter code,host,verb",
	"rest_client_request_duration_seconds":      "histogram host,verb",
	"rest_client_rate_limiter_duration_seconds": "histogram host,verb",

	"controller_runtime_reconcile_total":           "counter controller,result",
	"controller_runtime_reconcile_errors_total":    "counter controller",
	"controller_runtime_reconcile_panics_total":    "counter controller",
	"controller_runtime_reconcile_time_seconds":    "histogram controller",
	"controller_runtime_active_workers":            "gauge controller",
	"controller_runtime_max_concurrent_reconciles": "gauge controller",

	"informer_store_objects": "gauge group,resource",
	"informer_ready":         "gauge group,resource",

	"leader_election_master_status":  "gauge name",
	"leader_election_slowpath_total": "counter name",

	"go_build_info":                 "gauge checksum,path,version",
	"go_goroutines":                 "gauge",
	"go_threads":                    "gauge",
	"go_gc_duration_seconds":        "summary",
	"go_memstats_heap_inuse_bytes":  "gauge",
	"process_cpu_seconds_total":     "counter",
	"process_resident_memory_bytes": "gauge",
	"process_open_fds":              "gauge",
	"process_start_time_seconds":    "gauge",
}

// After everything that is counted has happened, the scrape has exactly these
// names, types and labels (of the runtime's many, at least these), and Prometheus'
// own linter finds nothing to complain of.
func TestNames(t *testing.T) {
	m := metrics.New()
	queue := controller.NewQueue("widget")
	defer queue.ShutDown()
	m.Workers("Widget", 1)
	requestEverything(t)
	m.Informers(startDeployments(t))
	lead(t, m)

	scraped := scrape(t, m)
	got := shape(t, scraped)
	for name := range got {
		if everything[name] == "" && (strings.HasPrefix(name, "go_") || strings.HasPrefix(name, "process_")) {
			delete(got, name)
		}
	}
	if diff := cmp.Diff(everything, got); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}

	problems, err := promlint.New(strings.NewReader(scraped)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range problems {
		t.Errorf("lint: %s: %s", problem.Metric, problem.Text)
	}
}

// What happens to a key in a queue shows, under the queue's name.
func TestQueue(t *testing.T) {
	m := metrics.New()
	queue := controller.NewQueue("widget")
	defer queue.ShutDown()
	other := cache.NewObjectName("default", "other")

	queue.Add(key)
	queue.Add(key) // is in it already
	queue.Add(other)
	expect(t, m, map[string]float64{
		`workqueue_adds_total{name="widget"}`:                   2,
		`workqueue_depth{name="widget"}`:                        2,
		`workqueue_retries_total{name="widget"}`:                0,
		`workqueue_queue_duration_seconds_count{name="widget"}`: 0,
	})

	queue.Get()
	await(t, m, `workqueue_longest_running_processor_seconds{name="widget"}`, func(seconds float64) bool { return seconds > 0 })
	await(t, m, `workqueue_unfinished_work_seconds{name="widget"}`, func(seconds float64) bool { return seconds > 0 })
	queue.Done(key)
	queue.AddRateLimited(key)
	await(t, m, `workqueue_adds_total{name="widget"}`, is(3))
	expect(t, m, map[string]float64{
		`workqueue_depth{name="widget"}`:                        2,
		`workqueue_retries_total{name="widget"}`:                1,
		`workqueue_queue_duration_seconds_count{name="widget"}`: 1,
		`workqueue_work_duration_seconds_count{name="widget"}`:  1,
	})
}
