package main

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/controller"
	core "example.com/byhand/informer"
)

// SIGTERM ends an informer at once, in each state, and no goroutine is left: the bubble would
// not end. Only a handler is waited for. client-go's Reflector also waits for the end of the
// pause that it makes before it asks for a list as a stream again.
func TestStop(t *testing.T) {
	hang := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	for _, state := range []struct {
		name          string
		play          func(w *world)
		takes, theirs time.Duration // at least
	}{
		{"before the answer to a stream", func(w *world) { w.answer(1, hang); w.start() }, 0, 0},
		{"within a list as a stream", func(w *world) {
			w.answer(1, func(rw http.ResponseWriter, r *http.Request) { event(rw, "ADDED", "half", 1); hang(rw, r) })
			w.start()
		}, 0, 0},
		{"before the answer to a list", func(w *world) { w.answer(2, w.onlyLists(hang)); w.start() }, 0, 0},
		{"in a watch", func(w *world) { w.start() }, 0, 0},
		{"in the pause after a failure", func(w *world) { w.answer(2, cut); w.start() }, 0, 0},
		{"in the pause after 429", func(w *world) { w.answer(1, busy); w.start() }, 0, 800 * time.Millisecond},
		{"in a handler", func(w *world) { w.add("", time.Hour); w.put("a", int64(1)); w.put("b", int64(1)); w.start() }, time.Hour, time.Hour},
	} {
		for _, swapped := range []clientGo{"", "shared"} {
			t.Run(state.name+"/client-go="+string(swapped), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t, swapped)
					state.play(w)
					want := state.takes
					if swapped == "shared" {
						want = state.theirs
					}
					if took := w.end(); took < want || want == 0 && took > 0 || took > want+2*time.Second {
						t.Errorf("it ends after %s, want %s", took, want)
					}
					if _, err := w.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{}); err == nil {
						t.Error("a handler may join after the end")
					}
				})
			})
		}
	}
}

// A server that has no version at all gets some requests a minute from our Reflector.
// client-go's asks again without a pause.
func TestExpiredInALoop(t *testing.T) {
	for swapped, want := range map[clientGo]int{"": 60, "reflector": 1010} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, swapped)
			w.answer(1000, expired) // Otherwise no time would go by.
			w.start()
			w.later(5 * time.Minute)
			w.end()
			if n := len(w.requests); n > want || n < want-50 {
				t.Errorf("client-go=%s: %d requests, want at most %d", swapped, n, want)
			}
		})
	}
}

// foo returns a Foo with a number, whose version is that, too.
func foo(name string, number int) *v1alpha1.Foo {
	return &v1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, ResourceVersion: strconv.Itoa(number)},
		Spec: v1alpha1.FooSpec{DeploymentName: "d" + strconv.Itoa(number%3), Replicas: new(int32(number))}}
}

// Our store and client-go's are the same after each of many changes. No reader sees half of a
// replace.
func TestStore(t *testing.T) {
	ours, theirs := NewStore(core.FooIndexers()), cache.NewIndexer(cache.MetaNamespaceKeyFunc, core.FooIndexers())
	content := func(store cache.Indexer) (content []string) {
		for _, object := range store.List() {
			content = append(content, show(object))
		}
		for n := range 3 {
			found, _ := store.ByIndex("byDeploymentName", "default/d"+strconv.Itoa(n))
			for _, object := range found {
				content = append(content, strconv.Itoa(n)+show(object))
			}
		}
		_, exists, _ := store.GetByKey("default/b")
		slices.Sort(content)
		return append(content, store.LastStoreSyncResourceVersion(), strconv.FormatBool(exists))
	}
	for n := range 2000 {
		object := foo(string(rune('a'+rand.N(5))), n)
		change := []func(cache.Indexer){
			func(s cache.Indexer) { _ = s.Add(object) },
			func(s cache.Indexer) { _ = s.Update(object) },
			func(s cache.Indexer) { _ = s.Delete(object) },
			func(s cache.Indexer) { _ = s.Replace([]any{object, foo("b", n+1)}, strconv.Itoa(n)) },
			func(s cache.Indexer) { s.Bookmark(strconv.Itoa(n)) },
		}[rand.N(5)]
		change(ours)
		change(theirs)
		if diff := cmp.Diff(content(theirs), content(ours)); diff != "" {
			t.Fatalf("after %d changes (-client-go +ours):\n%s", n, diff)
		}
	}
	if _, err := ours.ByIndex("another", ""); err == nil {
		t.Error("an index that does not exist is empty")
	}
	for _, object := range ours.List() {
		_ = ours.Delete(object)
	}
	if n := len(ours.index); n > 0 {
		t.Errorf("the index has %d values of objects that are gone", n)
	}
	var replacing sync.WaitGroup
	replacing.Go(func() {
		for n := range 1000 {
			_ = ours.Replace([]any{foo("a", n), foo("b", n), foo("c", n)}, "")
		}
	})
	for range 1000 {
		if n := len(ours.List()); n != 0 && n != 3 {
			t.Fatalf("a reader sees %d of 3 objects", n)
		}
	}
	replacing.Wait()
}

// When a handler is told of a change, the store has it.
func TestStoreFirst(t *testing.T) {
	store := NewStore(nil)
	for _, delta := range []cache.Delta{
		{Type: cache.Added, Object: foo("a", 1)}, {Type: cache.Updated, Object: foo("a", 2)}, {Type: cache.Deleted, Object: foo("a", 3)},
		{Type: cache.ReplacedAll, Object: cache.ReplacedAllInfo{Objects: []any{foo("b", 4)}, ResourceVersion: "4"}},
		{Type: cache.ReplacedAll, Object: cache.ReplacedAllInfo{ResourceVersion: "5"}},
	} {
		told := ""
		apply(store, func(call) { told = store.LastStoreSyncResourceVersion() }, delta, false)
		if now := store.LastStoreSyncResourceVersion(); told != now {
			t.Errorf("%s: the handler is told at version %q, and the store comes to %s", delta.Type, told, now)
		}
	}
}

// Our queue and client-go's hand out the same keys at the same times.
func TestQueue(t *testing.T) {
	a, b := cache.NewObjectName("", "a"), cache.NewObjectName("", "b")
	for name, queue := range map[string]func() controller.Queue{
		"ours": func() controller.Queue { return NewQueue() },
		"client-go": func() controller.Queue {
			return workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[cache.ObjectName](minDelay, maxDelay))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := queue()
				began := time.Now()
				// gets takes the next key, which must be this one, and come after this time.
				gets := func(want cache.ObjectName, after time.Duration) {
					t.Helper()
					if key, shutdown := q.Get(); key != want || shutdown || time.Since(began) != after {
						t.Errorf("got %s after %s, want %s after %s (shutdown: %t)", key, time.Since(began), want, after, shutdown)
					}
					began = time.Now()
				}
				q.Add(a)
				q.Add(b)
				q.Add(a)
				gets(a, 0)
				q.Add(a) // comes back after Done, and behind b
				gets(b, 0)
				q.AddAfter(b, time.Second)
				q.Done(b)
				gets(b, time.Second)
				q.Done(b)
				q.Done(a)
				gets(a, 0)
				q.Done(a)
				q.AddAfter(a, time.Hour)
				q.AddAfter(a, time.Minute)
				q.AddAfter(a, 2*time.Hour)
				gets(a, time.Minute)
				q.Done(a)
				time.Sleep(3 * time.Hour)
				q.Add(b)
				gets(b, 3*time.Hour)
				q.Done(b)
				for _, delay := range []time.Duration{5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5120, 10240, 20480, 30000, 30000} {
					q.AddRateLimited(a)
					gets(a, delay*time.Millisecond)
					q.Done(a)
				}
				q.Forget(a)
				q.AddRateLimited(a)
				gets(a, 5*time.Millisecond)
				q.Done(a)
				q.Add(b)
				q.AddAfter(a, time.Second)
				q.ShutDown()
				q.Add(a)
				gets(b, 0)
				q.Done(b)
				time.Sleep(time.Minute)
				if key, shutdown := q.Get(); !shutdown {
					t.Errorf("got %s after ShutDown", key)
				}
			})
		})
	}
}
