package main

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/informer"
)

// TestInformer: client-go's Reflector gets a streaming list, and receives each write.
func TestInformer(t *testing.T) {
	w := newWorld(t)
	w.menu()
	client := dynamic.NewForConfigOrDie(&rest.Config{Host: w.http.URL}).Resource(version.WithResource("toppings"))
	listWatch := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (apiruntime.Object, error) {
			return client.List(ctx, o)
		},
		WatchFuncWithContext: client.Watch,
	}
	toppingsInformer := informer.New(resource, client, listWatch, cache.InformerOptions{ObjectType: &unstructured.Unstructured{}, Handler: cache.ResourceEventHandlerFuncs{}})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { toppingsInformer.Run(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	if err := informer.WaitForSync(ctx, time.Minute, toppingsInformer); err != nil {
		t.Fatal(err)
	}
	w.must(http.StatusCreated, "POST", collection, topping("basil", 30))
	w.must(http.StatusOK, "PATCH", collection+"/tomato", `{"spec":{"cost":7}}`, "Content-Type", "application/merge-patch+json")
	w.must(http.StatusOK, "DELETE", collection+"/salami", "")
	var diff string
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		got := map[string]int64{}
		for _, o := range toppingsInformer.Store.List() {
			stored := o.(*unstructured.Unstructured)
			got[stored.GetName()] = cost(stored)
		}
		if diff = cmp.Diff(map[string]int64{"basil": 30, "mozzarella": 100, "tomato": 7}, got); diff == "" {
			break
		}
	}
	if diff != "" {
		t.Errorf("the store of the informer (-want +got):\n%s", diff)
	}
	if lists := w.logged(`^GET +\S+/toppings(\?[^w]*)? `); len(lists) > 0 {
		t.Errorf("the list was not streamed: %q", lists)
	}
}
