package metrics_test

import (
	"context"
	"errors"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubefake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/clientset/fake"
	"example.com/byhand/controller"
	"example.com/byhand/informer"
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

// What counting costs, beside the cheapest reconcile of a Foo that there is: that
// of one that is as it should be.
func BenchmarkReconcile(b *testing.B) {
	reconcile := settled(b)
	for _, run := range []struct {
		name      string
		reconcile controller.Reconcile
	}{
		{"settled", reconcile},
		{"settled-counted", counted(metrics.New(), reconcile)},
		{"counting-alone", counted(metrics.New(), reconcileTo(0, nil))},
	} {
		b.Run(run.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if again, err := run.reconcile(b.Context(), key); again != 0 || err != nil {
					b.Fatal(again, err)
				}
			}
		})
	}
}

// settled returns the reconcile of a Foo for which nothing is left to do.
func settled(b *testing.B) controller.Reconcile {
	b.Helper()
	client := fake.NewClientset(&v1alpha1.Foo{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: "uid", Generation: 1},
		Spec:       v1alpha1.FooSpec{DeploymentName: "example-foo", Replicas: new(int32(1))},
	})
	kubeClient := kubefake.NewClientset()
	real := &controller.FooReconciler{
		Foos:            client.SamplecontrollerV1alpha1(),
		Deployments:     kubeClient.AppsV1(),
		FooStore:        cache.NewIndexer(cache.MetaNamespaceKeyFunc, informer.FooIndexers()),
		DeploymentStore: cache.NewIndexer(cache.MetaNamespaceKeyFunc, informer.DeploymentIndexers()),
		Events:          &record.FakeRecorder{},
	}
	b.Cleanup(func() {
		if len(client.Actions())+len(kubeClient.Actions()) > 0 {
			b.Errorf("a settled Foo sends requests: %v %v", client.Actions(), kubeClient.Actions())
		}
	})
	// One round for each write, and one to see that nothing is left. The fakes give
	// no resourceVersion.
	for range 5 {
		foos, _ := client.SamplecontrollerV1alpha1().Foos("").List(b.Context(), metav1.ListOptions{})
		for i := range foos.Items {
			foos.Items[i].ResourceVersion = "1"
			_ = real.FooStore.Add(&foos.Items[i])
		}
		deployments, _ := kubeClient.AppsV1().Deployments("").List(b.Context(), metav1.ListOptions{})
		for i := range deployments.Items {
			deployments.Items[i].ResourceVersion = "1"
			_ = real.DeploymentStore.Add(&deployments.Items[i])
		}
		client.ClearActions()
		kubeClient.ClearActions()
		again, err := real.Reconcile(b.Context(), key)
		if err != nil {
			b.Fatal(err)
		}
		if again == 0 && len(client.Actions())+len(kubeClient.Actions()) == 0 {
			return real.Reconcile
		}
	}
	b.Fatal("the Foo does not settle")
	return nil
}
