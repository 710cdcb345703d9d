package metrics_test

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/clientset/fake"
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

func newFoos(names ...string) *informer.Informer {
	client := fake.NewClientset()
	for _, name := range names {
		_ = client.Tracker().Add(&v1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}})
	}
	return informer.NewFoos(client, "", 0, cache.ResourceEventHandlerFuncs{})
}

// startFoos returns an informer over two Foos, in sync.
func startFoos(t *testing.T) *informer.Informer {
	t.Helper()
	foos := newFoos("one", "two")
	runUntilEnd(t, foos.Run)
	if err := informer.WaitForSync(t.Context(), deadline, foos); err != nil {
		t.Fatal(err)
	}
	return foos
}

// A scrape looks at the stores as they are then.
func TestInformers(t *testing.T) {
	m := metrics.New()
	waiting, synced := newFoos("three"), startFoos(t)
	waiting.Resource = "things"
	m.Informers(waiting, synced)
	expect(t, m, map[string]float64{
		`informer_ready{group="",resource="things"}`:                              0,
		`informer_store_objects{group="",resource="things"}`:                      0,
		`informer_ready{group="samplecontroller.k8s.io",resource="foos"}`:         1,
		`informer_store_objects{group="samplecontroller.k8s.io",resource="foos"}`: 2,
	})

	runUntilEnd(t, waiting.Run)
	await(t, m, `informer_ready{group="",resource="things"}`, is(1))
	expect(t, m, map[string]float64{`informer_store_objects{group="",resource="things"}`: 1})
}
