package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/informer"
)

// stream is an open watch.
type stream struct {
	*testing.T
	decoder *json.Decoder
}

func (w *world) watch(path string, header ...string) *stream {
	w.Helper()
	response := w.send("GET", path, "", header...)
	if response.StatusCode != http.StatusOK {
		w.Fatalf("watch %s: %d", path, response.StatusCode)
	}
	w.Cleanup(func() { _ = response.Body.Close() })
	return &stream{w.T, json.NewDecoder(response.Body)}
}

// next reads one event: "ADDED salami", and the whole of it.
func (s *stream) next() (string, map[string]any) {
	s.Helper()
	var event struct {
		Type   string
		Object map[string]any
	}
	if err := s.decoder.Decode(&event); err != nil {
		s.Fatal(err)
	}
	name, _, _ := unstructured.NestedString(event.Object, "metadata", "name")
	return strings.TrimSpace(event.Type + " " + name), event.Object
}

func (s *stream) wants(want string) map[string]any {
	s.Helper()
	got, object := s.next()
	if got != want {
		s.Errorf("event %q, want %q: %v", got, want, object)
	}
	return object
}

// What happens is told in order, to each watcher what its selector lets it see.
func TestWatch(t *testing.T) {
	w := newWorld(t)
	w.menu()
	at := w.must(http.StatusOK, "GET", collection, "").get("metadata.resourceVersion")
	all := w.watch(fmt.Sprintf("%s?watch=true&resourceVersion=%s", collection, at))
	vegan := w.watch(fmt.Sprintf("%s?watch=true&labelSelector=vegan&resourceVersion=%s", collection, at))
	one := w.watch(fmt.Sprintf("%s?watch=true&fieldSelector=metadata.name%%3Dsalami&resourceVersion=%s", collection, at))

	label := func(labels string) {
		w.patch(http.StatusOK, collection+"/tomato", `{"metadata":{"labels":`+labels+`}}`)
	}
	label(`{"vegan":"yes"}`)
	label(`{"vegan":"very"}`)
	label(`null`)
	w.must(http.StatusOK, "DELETE", collection+"/salami", "")

	for range 3 {
		all.wants("MODIFIED tomato")
	}
	all.wants("DELETED salami")
	vegan.wants("ADDED tomato")
	vegan.wants("MODIFIED tomato")
	gone := vegan.wants("DELETED tomato")
	if version, _, _ := unstructured.NestedString(gone, "metadata", "resourceVersion"); version != fmt.Sprint(w.revision()-1) {
		t.Errorf("it has gone in version %s, and the storage is at %d", version, w.revision())
	}
	one.wants("DELETED salami")
}

// A client that asks for what is there already gets it, and is told where it ends.
func TestInitialEvents(t *testing.T) {
	w := newWorld(t)
	w.menu()
	s := w.watch(collection + "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true")
	for _, name := range []string{"mozzarella", "salami", "tomato"} {
		s.wants("ADDED " + name)
	}
	mark := s.wants("BOOKMARK")
	want := map[string]any{
		"apiVersion": version.String(), "kind": "Topping",
		"metadata": map[string]any{"resourceVersion": fmt.Sprint(w.revision()), "annotations": map[string]any{metav1.InitialEventsAnnotationKey: "true"}},
	}
	if diff := cmp.Diff(want, mark); diff != "" {
		t.Errorf("the bookmark (-want +got):\n%s", diff)
	}
	w.must(http.StatusOK, "DELETE", collection+"/salami", "")
	s.wants("DELETED salami")
}

// writeMuch makes more events than are remembered, of 20 kB each.
func (w *world) writeMuch() {
	for i := range maxHistory / 20_000 {
		mustStore(w.T, w.handler.storage, "large", strings.Repeat("x", 20_000)+strconv.Itoa(i))
	}
}

// A watcher that does not read holds nothing up and takes no memory. When it reads again it
// is told 410.
func TestSlowWatcher(t *testing.T) {
	w := newWorld(t)
	s := w.watch(collection + "?watch=true")
	w.writeMuch()
	for {
		kind, object := s.next()
		if kind == string(watch.Error) {
			if object["code"] != 410.0 {
				t.Errorf("it is told %v, want 410", object)
			}
			return
		}
	}
}

// One that never reads again is cut off.
func TestStuckWatcher(t *testing.T) {
	w := newWorld(t)
	w.handler.patience = 50 * time.Millisecond
	w.watch(collection + "?watch=true")
	w.writeMuch()
	w.eventually("the end of the watch", func() error {
		if w.handler.watches.total > 0 {
			return errors.New("it goes on")
		}
		return nil
	})
}

// However many watch an object, an event is encoded once: one user may have a quarter of all
// watches, and each would take as much processor time as a write.
func TestManyWatchers(t *testing.T) {
	w := newWorld(t)
	w.menu()
	path := fmt.Sprintf("%s?watch=true&resourceVersion=%d", collection, w.revision())
	watchers := []*stream{w.watch(path), w.watch(path), w.watch(path)}
	w.patch(http.StatusOK, collection+"/tomato", `{"spec":{"cost":7}}`)
	for _, s := range watchers {
		s.wants("MODIFIED tomato")
	}
	event, _, _ := w.handler.storage.next(w.revision() - 1)
	forms := 0
	for form := range event.lines.Range {
		forms++
		_, _ = event.line(form.(string), func() ([]byte, error) {
			t.Errorf("%v is encoded again", form)
			return nil, nil
		})
	}
	if forms != 1 {
		t.Errorf("it is encoded in %d forms, want 1", forms)
	}
}

// A watch ends when the client wants, or sooner.
func TestWatchTime(t *testing.T) {
	for _, test := range []struct {
		seconds  *int64
		from, to time.Duration
	}{
		{nil, minWatch, 2 * minWatch},
		{new(int64(7)), 7 * time.Second, 7 * time.Second},
		{new(int64(math.MaxInt64)), minWatch, 2 * minWatch},
	} {
		if got := watchTime(test.seconds); got < test.from || got > test.to {
			t.Errorf("%v: %v, want %v to %v", test.seconds, got, test.from, test.to)
		}
	}
}

// client-go's Reflector streams its list, as it does from any API server, and keeps up with writes.
func TestInformer(t *testing.T) {
	w := newWorld(t)
	w.menu()
	toppings := dynamic.NewForConfigOrDie(&rest.Config{Host: w.http.URL}).Resource(version.WithResource("toppings"))
	listWatch := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (apiruntime.Object, error) {
			return toppings.List(ctx, o)
		},
		WatchFuncWithContext: toppings.Watch,
	}
	toppingsInformer := informer.New(resource, toppings, listWatch, cache.InformerOptions{ObjectType: &unstructured.Unstructured{}, Handler: cache.ResourceEventHandlerFuncs{}})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { toppingsInformer.Run(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	if err := informer.WaitForSync(ctx, time.Minute, toppingsInformer); err != nil {
		t.Fatal(err)
	}
	w.must(http.StatusCreated, "POST", collection, `{"metadata":{"name":"basil"},"spec":{"cost":30}}`)
	w.patch(http.StatusOK, collection+"/tomato", `{"spec":{"cost":7}}`)
	w.must(http.StatusOK, "DELETE", collection+"/salami", "")
	w.eventually("the store of the informer", func() error {
		got := map[string]any{}
		for _, o := range toppingsInformer.Store.List() {
			stored := o.(*unstructured.Unstructured)
			got[stored.GetName()] = stored.Object["spec"]
		}
		cost := func(cost int64) any { return map[string]any{"cost": cost} }
		if diff := cmp.Diff(map[string]any{"basil": cost(30), "mozzarella": cost(100), "tomato": cost(7)}, got); diff != "" {
			return fmt.Errorf("(-want +got):\n%s", diff)
		}
		return nil
	})
	if lists := w.said(`^GET +\S+/toppings(\?[^w]*)? `); len(lists) > 0 {
		t.Errorf("the list was not streamed: %q", lists)
	}
}
