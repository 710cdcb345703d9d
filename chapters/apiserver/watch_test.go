package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/chapters/restaurant/v1beta1"
	"example.com/byhand/informer"
)

// stream is an open watch.
type stream struct {
	*testing.T
	body    io.Reader
	decoder *json.Decoder
	close   func()
}

func (w *world) watch(path string, header ...string) *stream {
	w.Helper()
	ctx, cancel := context.WithCancel(w.Context())
	response := w.send(ctx, "GET", path, "", header...)
	if response.StatusCode != http.StatusOK {
		w.Fatalf("watch %s: %d", path, response.StatusCode)
	}
	s := &stream{T: w.T, body: response.Body, decoder: json.NewDecoder(response.Body), close: func() {
		cancel()
		_ = response.Body.Close()
	}}
	w.Cleanup(s.close)
	return s
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
	// Without a version and without a word: the same, and no bookmark.
	old := w.watch(collection + "?watch=true")
	old.wants("ADDED mozzarella")
	old.wants("ADDED tomato")
	w.must(http.StatusOK, "DELETE", collection+"/mozzarella", "")
	old.wants("DELETED mozzarella")
}

// writeMuch makes more events than are remembered, of 20 kB each.
func (w *world) writeMuch() {
	w.Helper()
	for i := range maxHistory / 20_000 {
		large := &topping{ObjectMeta: metav1.ObjectMeta{Name: "large", Labels: map[string]string{"a": strings.Repeat("x", 20_000)}}, Spec: v1beta1.ToppingSpec{Cost: int32(i)}}
		if err := w.handler.storage.write("large", false, w.handler.storage.get("large"), large, func(map[string]*topping) error { return nil }); err != nil {
			w.Fatal(err)
		}
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
	const watchers, size = 50, 20_000
	w.must(http.StatusCreated, "POST", collection, `{"metadata":{"name":"large"},"spec":{"cost":1}}`)
	allocated := func(word string, watchers int) uint64 {
		var reading sync.WaitGroup
		for range watchers {
			s := w.watch(fmt.Sprintf("%s?watch=true&resourceVersion=%d", collection, w.revision()))
			reading.Go(func() { _, _ = io.CopyN(io.Discard, s.body, size) })
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		annotations := map[string]string{}
		for i := range 1000 {
			annotations[strconv.Itoa(i)] = word
		}
		text, _ := json.Marshal(annotations)
		w.patch(http.StatusOK, collection+"/large", `{"metadata":{"annotations":`+string(text)+`}}`)
		reading.Wait()
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	alone := allocated("one", 0)
	if each := (int64(allocated("two", watchers)) - int64(alone)) / watchers; each > 5*size {
		t.Errorf("%d bytes are allocated for each watcher, for an object of %d", each, size)
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

// newInformer returns the core's informer of toppings.
func newInformer(client dynamic.Interface) *informer.Informer {
	toppings := client.Resource(toppingResource)
	return informer.New(toppingResource.GroupResource(), toppings, &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (apiruntime.Object, error) {
			return toppings.List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return toppings.Watch(ctx, o)
		},
	}, cache.InformerOptions{ObjectType: &unstructured.Unstructured{}, Handler: cache.ResourceEventHandlerFuncs{}})
}

// client-go's Reflector streams its list, as it does from any API server, and keeps up with
// random writes.
func TestInformer(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	w := newWorld(t)
	w.menu()
	toppingsInformer := newInformer(w.dynamic())
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { toppingsInformer.Run(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })

	client := w.dynamic().Resource(toppingResource)
	for range 100 {
		name := fmt.Sprintf("herb-%d", random.IntN(5))
		herb := newTopping(name, random.Int64N(9))
		switch random.IntN(3) {
		case 0:
			_, _ = client.Create(ctx, herb, metav1.CreateOptions{})
		case 1:
			_ = client.Delete(ctx, name, metav1.DeleteOptions{})
		case 2:
			patch := fmt.Appendf(nil, `{"spec":{"cost":%d}}`, random.IntN(9))
			_, _ = client.Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{})
		}
	}
	w.eventually("the store of the informer", func() error {
		want, got := map[string]int32{}, map[string]int32{}
		objects, _ := w.handler.storage.list()
		for _, t := range objects {
			want[t.Name] = t.Spec.Cost
		}
		for _, o := range toppingsInformer.Store.List() {
			cost, _, _ := unstructured.NestedInt64(o.(*unstructured.Unstructured).Object, "spec", "cost")
			got[o.(*unstructured.Unstructured).GetName()] = int32(cost)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			return fmt.Errorf("(-want +got):\n%s", diff)
		}
		return nil
	})
	if lists := w.said(`^GET +\S+/toppings(\?[^w]*)? `); len(lists) > 0 {
		t.Errorf("the list was not streamed: %q", lists)
	}
}
