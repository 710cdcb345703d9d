package metrics_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

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

// expect waits until the scrape has these lines. Dashboards find a series by its name and labels.
func expect(t *testing.T, m *metrics.Metrics, lines ...string) {
	t.Helper()
	for _, line := range lines {
		for end := time.Now().Add(10 * time.Second); !strings.Contains(scrape(t, m), "\n"+line+"\n"); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("no %s in\n%s", line, scrape(t, m))
			}
		}
	}
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
	expect(t, m, `workqueue_depth{name="widget"} 1`, `leader_election_master_status{name="byhand"} 0`)
	err = election.Run(klog.NewContext(t.Context(), klog.Logger{}), func(context.Context) error {
		expect(t, m, `leader_election_master_status{name="byhand"} 1`, `rest_client_requests_total{code="201",host="api.test",method="POST"} 1`)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	for _, name := range []string{"go_goroutines", "process_resident_memory_bytes"} {
		if !strings.Contains(scrape(t, m), "\n"+name+" ") {
			t.Errorf("no %s", name)
		}
	}
	if metrics.New(); strings.Contains(scrape(t, m), `"widget"`) {
		t.Error("a new set begins with the counts of the one before")
	}
}
