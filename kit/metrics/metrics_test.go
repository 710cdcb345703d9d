package metrics_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"example.com/byhand/controller"
	"example.com/byhand/kit/leader"
	"example.com/byhand/kit/metrics"
	"example.com/byhand/kit/testkit"
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

// The scrape has client-go's metrics, and describes the Go runtime and the process.
func TestClientGo(t *testing.T) {
	m, api := metrics.New(), testkit.NewAPIServer()
	controller.NewQueue("widget").Add(cache.NewObjectName("default", "one"))
	options := leader.Options{Elect: true, LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: time.Second, Name: "byhand", Namespace: "default"}
	election, err := leader.New(api.Config(), "", options, nil)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, m, map[string]float64{
		`workqueue_depth{name="widget"}`:               1,
		`leader_election_master_status{name="byhand"}`: 0,
	})
	err = election.Run(klog.NewContext(t.Context(), klog.Logger{}), func(context.Context) error {
		expect(t, m, map[string]float64{
			`leader_election_master_status{name="byhand"}`:                         1,
			`rest_client_requests_total{code="201",host="api.test",method="POST"}`: 1,
		})
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	all := series(t, m)
	for _, name := range []string{"go_goroutines", "process_resident_memory_bytes"} {
		if all[name] == 0 {
			t.Errorf("no %s", name)
		}
	}
	if metrics.New(); series(t, m)[`workqueue_depth{name="widget"}`] != 0 {
		t.Error("a new set begins with the counts of the one before")
	}
}
