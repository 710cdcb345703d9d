package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
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
	half := func(rw http.ResponseWriter, r *http.Request) { event(rw, "ADDED", "half", 1); hang(rw, r) }
	for _, state := range []struct {
		name         string
		play         func(w *world)
		ours, theirs time.Duration // at least, and at most twice that
	}{
		{"before the answer to a stream", func(w *world) { w.answer(1, hang) }, 0, 0},
		{"in a first list that never ends", func(w *world) { w.answer(1, half) }, 0, 0},
		{"before the answer to a list", func(w *world) { w.answer(2, w.onlyLists(hang)) }, 0, 0},
		{"in a watch", func(w *world) {}, 0, 0},
		{"in the pause after a failure", func(w *world) { w.answer(2, cut) }, 0, 0},
		{"in a loop of 410", func(w *world) { w.answer(100, expired) }, 0, 0},
		{"in the pause after 429", func(w *world) { w.answer(1, busy) }, 0, 800 * time.Millisecond},
		{"in a handler that blocks", func(w *world) { w.add("", time.Hour); w.put("a", 1); w.put("b", 1) }, time.Hour, time.Hour},
	} {
		for swapped, want := range map[clientGo]time.Duration{"": state.ours, "shared": state.theirs} {
			t.Run(state.name+"/client-go="+string(swapped), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t, swapped)
					state.play(w)
					w.start()
					if took := w.end(); took < want || took > 2*want {
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

// foo returns a Foo with a number, whose version is that, too.
func foo(name string, number int) *v1alpha1.Foo {
	return &v1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, ResourceVersion: strconv.Itoa(number)},
		Spec: v1alpha1.FooSpec{DeploymentName: "d" + strconv.Itoa(number%3), Replicas: new(int32(number))}}
}

// Our store and client-go's are the same after each of many changes, and ours is so already when
// a handler is told. No reader sees half of a replace.
func TestStore(t *testing.T) {
	ours, theirs := NewStore(core.FooIndexers()), cache.NewIndexer(cache.MetaNamespaceKeyFunc, core.FooIndexers())
	content := func(store cache.Indexer) string {
		_, exists, _ := store.GetByKey("default/b")
		content := fmt.Sprintln(show(store.List()...), store.LastStoreSyncResourceVersion(), exists)
		for n := range 3 {
			found, _ := store.ByIndex("byDeploymentName", "default/d"+strconv.Itoa(n))
			content += fmt.Sprintln(n, show(found...))
		}
		return content
	}
	for n := range 2000 {
		object, version := foo(string(rune('a'+rand.N(5))), n), strconv.Itoa(n)
		delta := []cache.Delta{
			{Type: cache.Updated, Object: object}, {Type: cache.Deleted, Object: object},
			{Type: cache.ReplacedAll, Object: cache.ReplacedAllInfo{Objects: []any{object, foo("b", n+1)}, ResourceVersion: version}},
			{Type: cache.Bookmark, Object: cache.BookmarkInfo{ResourceVersion: version}},
		}[rand.N(4)]
		same := func(call) {
			if diff := cmp.Diff(content(theirs), content(ours)); diff != "" {
				t.Fatalf("after %d changes, the last one %s (-client-go +ours):\n%s", n, delta.Type, diff)
			}
		}
		apply(theirs, func(call) {}, delta, false)
		apply(ours, same, delta, false)
		same(nil)
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
				q.Done(a)
				gets(a, 0)
				q.Done(b)
				q.Done(a)
				q.AddAfter(a, time.Hour)
				q.AddAfter(a, time.Minute)
				q.AddAfter(a, 2*time.Hour)
				gets(a, time.Minute)
				q.Done(a)
				q.AddAfter(b, 3*time.Hour)
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
