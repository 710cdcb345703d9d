package metrics_test

import (
	"context"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubefake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/informer"
	"example.com/byhand/kit/metrics"
)

// runUntilEnd runs an informer until the test ends.
func runUntilEnd(t *testing.T, run func(ctx context.Context)) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		run(ctx)
	}()
	t.Cleanup(func() { cancel(); <-done })
}

func newDeployments(names ...string) *informer.Informer {
	client := kubefake.NewClientset()
	for _, name := range names {
		_ = client.Tracker().Add(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}})
	}
	return informer.NewDeployments(client, "", 0, cache.ResourceEventHandlerFuncs{})
}

// startDeployments returns an informer over two Deployments, in sync.
func startDeployments(t *testing.T) *informer.Informer {
	t.Helper()
	deployments := newDeployments("one", "two")
	runUntilEnd(t, deployments.Run)
	if err := informer.WaitForSync(t.Context(), deadline, deployments); err != nil {
		t.Fatal(err)
	}
	return deployments
}

// A scrape looks at the stores as they are then.
func TestInformers(t *testing.T) {
	m := metrics.New()
	waiting, synced := newDeployments("three"), startDeployments(t)
	waiting.Resource = "things"
	m.Informers(waiting, synced)
	expect(t, m, map[string]float64{
		`informer_ready{group="",resource="things"}`:                  0,
		`informer_store_objects{group="",resource="things"}`:          0,
		`informer_ready{group="apps",resource="deployments"}`:         1,
		`informer_store_objects{group="apps",resource="deployments"}`: 2,
	})

	runUntilEnd(t, waiting.Run)
	await(t, m, `informer_ready{group="",resource="things"}`, is(1))
	expect(t, m, map[string]float64{`informer_store_objects{group="",resource="things"}`: 1})
}
