package metrics_test

import (
	"context"
	"errors"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/cache"

	"example.com/byhand/controller"
	"example.com/byhand/internal/kinds"
	"example.com/byhand/internal/metrics"
	"example.com/byhand/internal/observer"
)

func reconcileTo(again time.Duration, err error) controller.Reconcile {
	return func(context.Context, cache.ObjectName) (time.Duration, error) { return again, err }
}

// counted is next as main wires it: with an observer, whose steps m counts.
func counted(m *metrics.Metrics, next controller.Reconcile) controller.Reconcile {
	m.Workers("Foo", 3)
	observe := observer.New(observer.Options{Count: m.Step})
	observe.Queue(kinds.Foo, controller.NewPriorityQueue(""))
	return observe.Reconcile(kinds.Foo, reconciler(next))
}

type reconciler controller.Reconcile

func (r reconciler) Reconcile(ctx context.Context, key cache.ObjectName) (time.Duration, error) {
	return r(ctx, key)
}

// explode is what a stack must still show.
func explode(context.Context, cache.ObjectName) (time.Duration, error) { panic("boom") }

// Each outcome is counted as what it is, and reaches the caller unchanged.
func TestReconcile(t *testing.T) {
	m := metrics.New()
	broken := errors.New("broken")
	for _, test := range []struct {
		again time.Duration
		err   error
		times int
	}{{0, nil, 4}, {time.Second, nil, 3}, {0, broken, 1}, {time.Second, broken, 1}} {
		reconcile := counted(m, reconcileTo(test.again, test.err))
		for range test.times {
			if again, err := reconcile(t.Context(), key); again != test.again || err != test.err {
				t.Errorf("returned %v, %v; want %v, %v", again, err, test.again, test.err)
			}
		}
	}
	expect(t, m, map[string]float64{
		`controller_runtime_reconcile_total{controller="foo",result="success"}`:       4,
		`controller_runtime_reconcile_total{controller="foo",result="requeue_after"}`: 3,
		`controller_runtime_reconcile_total{controller="foo",result="requeue"}`:       0,
		`controller_runtime_reconcile_total{controller="foo",result="error"}`:         2,
		`controller_runtime_reconcile_errors_total{controller="foo"}`:                 2,
		`controller_runtime_reconcile_panics_total{controller="foo"}`:                 0,
		`controller_runtime_reconcile_time_seconds_count{controller="foo"}`:           9,
		`controller_runtime_max_concurrent_reconciles{controller="foo"}`:              3,
		`controller_runtime_active_workers{controller="foo"}`:                         0,
	})
}

// A panic counts as a panic and as an error, and whoever recovers it sees where it
// began.
func TestReconcilePanic(t *testing.T) {
	m := metrics.New()
	reconcile := counted(m, explode)
	func() {
		defer func() {
			reason, stack := recover(), string(debug.Stack())
			if reason != "boom" {
				t.Errorf("recovered %v, want boom", reason)
			}
			if !strings.Contains(stack, "metrics_test.explode") {
				t.Errorf("the stack has lost the place of the panic:\n%s", stack)
			}
		}()
		_, _ = reconcile(t.Context(), key)
	}()
	expect(t, m, map[string]float64{
		`controller_runtime_reconcile_panics_total{controller="foo"}`:           1,
		`controller_runtime_reconcile_errors_total{controller="foo"}`:           1,
		`controller_runtime_reconcile_total{controller="foo",result="error"}`:   1,
		`controller_runtime_reconcile_total{controller="foo",result="success"}`: 0,
		`controller_runtime_reconcile_time_seconds_count{controller="foo"}`:     1,
		`controller_runtime_active_workers{controller="foo"}`:                   0,
	})
}

// A worker is active while its reconcile runs.
func TestActiveWorkers(t *testing.T) {
	m := metrics.New()
	begun, end, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	reconcile := counted(m, func(context.Context, cache.ObjectName) (time.Duration, error) {
		begun <- struct{}{}
		<-end
		return 0, nil
	})
	for range 2 {
		go func() {
			_, _ = reconcile(context.Background(), key)
			ended <- struct{}{}
		}()
		<-begun
	}
	expect(t, m, map[string]float64{`controller_runtime_active_workers{controller="foo"}`: 2})
	close(end)
	<-ended
	<-ended
	expect(t, m, map[string]float64{`controller_runtime_active_workers{controller="foo"}`: 0})
}
