package metrics_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"k8s.io/client-go/tools/cache"

	"example.com/byhand/internal/trace"
	"example.com/byhand/kit/metrics"
)

// A worker is active from the begin of a reconcile to its end, which is counted as what it is. The
// observer's TestCount has the steps that there are; other steps are none.
func TestReconcile(t *testing.T) {
	m := metrics.New()
	active := func(want float64) {
		t.Helper()
		expect(t, m, map[string]float64{`controller_runtime_active_workers{controller="widget"}`: want})
	}
	m.Step(&trace.Step{Part: trace.PartWorker, Kind: "Widget", What: trace.Done})
	m.Step(&trace.Step{Part: trace.PartReconcile, Kind: "Other", What: trace.Ended, Took: time.Minute})
	reconcile := m.Reconcile("Widget", 3, func(_ context.Context, key cache.ObjectName) (time.Duration, error) {
		active(1)
		switch key.Name {
		case "later":
			return time.Second, nil
		case "fails":
			return 0, errors.New("no")
		case "panics":
			panic("no")
		}
		return 0, nil
	})
	for _, name := range []string{"", "later", "fails", "panics"} {
		func() {
			defer func() {
				if got := recover(); (got != nil) != (name == "panics") {
					t.Errorf("%s: panic %v", name, got)
				}
			}()
			_, _ = reconcile(t.Context(), cache.ObjectName{Name: name})
		}()
	}
	active(0)
	expect(t, m, map[string]float64{
		`controller_runtime_reconcile_total{controller="widget",result="success"}`:       1,
		`controller_runtime_reconcile_total{controller="widget",result="requeue_after"}`: 1,
		`controller_runtime_reconcile_total{controller="widget",result="requeue"}`:       0,
		`controller_runtime_reconcile_total{controller="widget",result="error"}`:         2,
		`controller_runtime_reconcile_errors_total{controller="widget"}`:                 2,
		`controller_runtime_reconcile_panics_total{controller="widget"}`:                 1,
		`controller_runtime_reconcile_time_seconds_count{controller="widget"}`:           4,
		`controller_runtime_reconcile_time_seconds_sum{controller="other"}`:              60,
		`controller_runtime_max_concurrent_reconciles{controller="widget"}`:              3,
	})
}
