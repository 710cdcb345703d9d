package metrics_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/controller"
	"example.com/byhand/kit/metrics"
)

func scrape(t *testing.T, m *metrics.Metrics) string {
	t.Helper()
	answer := httptest.NewRecorder()
	m.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if answer.Code != http.StatusOK {
		t.Fatalf("code %d: %s", answer.Code, answer.Body)
	}
	return answer.Body.String()
}

var sample = regexp.MustCompile(`(?m)^([a-z_]+(?:\{.*\})?) (\S+)$`)

func series(t *testing.T, m *metrics.Metrics) map[string]float64 {
	t.Helper()
	values := map[string]float64{}
	for _, match := range sample.FindAllStringSubmatch(scrape(t, m), -1) {
		value, err := strconv.ParseFloat(match[2], 64)
		if err != nil {
			t.Fatalf("%s: %v", match[0], err)
		}
		values[match[1]] = value
	}
	return values
}

// expect waits until these series have these values. Dashboards find them by name and labels.
func expect(t *testing.T, m *metrics.Metrics, want map[string]float64) {
	t.Helper()
	var diff string
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		all, got := series(t, m), map[string]float64{}
		for name := range want {
			if value, exists := all[name]; exists {
				got[name] = value
			}
		}
		if diff = cmp.Diff(want, got); diff == "" {
			return
		}
	}
	t.Errorf("series (-want +got):\n%s", diff)
}

// The scrape also describes the Go runtime and the process.
func TestRuntime(t *testing.T) {
	all := series(t, metrics.New())
	for _, name := range []string{"go_goroutines", "process_resident_memory_bytes"} {
		if all[name] == 0 {
			t.Errorf("no %s", name)
		}
	}
}

// Each queue counts its keys under its name.
func TestQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := metrics.New()
		queue := controller.NewQueue("widget")
		key, other := cache.NewObjectName("default", "one"), cache.NewObjectName("default", "other")
		queue.Add(key)
		queue.Add(key) // It is already waiting.
		queue.Add(other)
		expect(t, m, map[string]float64{
			`workqueue_adds_total{name="widget"}`:                   2,
			`workqueue_depth{name="widget"}`:                        2,
			`workqueue_retries_total{name="widget"}`:                0,
			`workqueue_queue_duration_seconds_count{name="widget"}`: 0,
		})

		queue.Get()
		time.Sleep(1100 * time.Millisecond) // The queue measures every 500 ms.
		expect(t, m, map[string]float64{
			`workqueue_longest_running_processor_seconds{name="widget"}`: 1,
			`workqueue_unfinished_work_seconds{name="widget"}`:           1,
		})
		queue.Done(key)
		queue.AddRateLimited(key)
		expect(t, m, map[string]float64{
			`workqueue_adds_total{name="widget"}`:                   3,
			`workqueue_depth{name="widget"}`:                        2,
			`workqueue_retries_total{name="widget"}`:                1,
			`workqueue_queue_duration_seconds_count{name="widget"}`: 1,
			`workqueue_work_duration_seconds_count{name="widget"}`:  1,
		})
		queue.ShutDown()
		time.Sleep(time.Second) // Its goroutines end.
	})
}
