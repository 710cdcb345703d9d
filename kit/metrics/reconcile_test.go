package metrics_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"k8s.io/client-go/tools/cache"

	"example.com/byhand/kit/metrics"
)

// A worker is active during a reconcile. The reconcile is counted by its result. A panic is counted, but not
// recovered.
func TestReconcile(t *testing.T) {
	m := metrics.New()
	results := map[string]func() (time.Duration, error){
		"succeeds": func() (time.Duration, error) { return 0, nil },
		"requeues": func() (time.Duration, error) { return time.Second, nil },
		"fails":    func() (time.Duration, error) { return 0, errors.New("no") },
		"panics":   func() (time.Duration, error) { panic("no") },
	}
	reconcile := m.Reconcile("Widget", 3, func(_ context.Context, key cache.ObjectName) (time.Duration, error) {
		expect(t, m, `controller_runtime_active_workers{controller="widget"} 1`)
		return results[key.Name]()
	})
	for name := range results {
		func() {
			defer func() {
				if got := recover(); (got != nil) != (name == "panics") {
					t.Errorf("%s: panic %v", name, got)
				}
			}()
			_, _ = reconcile(t.Context(), cache.ObjectName{Name: name})
		}()
	}
	expect(t, m,
		`controller_runtime_active_workers{controller="widget"} 0`,
		`controller_runtime_reconcile_total{controller="widget",result="success"} 1`,
		`controller_runtime_reconcile_total{controller="widget",result="requeue_after"} 1`,
		`controller_runtime_reconcile_total{controller="widget",result="requeue"} 0`,
		`controller_runtime_reconcile_total{controller="widget",result="error"} 2`,
		`controller_runtime_reconcile_errors_total{controller="widget"} 2`,
		`controller_runtime_reconcile_panics_total{controller="widget"} 1`,
		`controller_runtime_reconcile_time_seconds_count{controller="widget"} 4`,
		`controller_runtime_max_concurrent_reconciles{controller="widget"} 3`)
}
