package main

import (
	"fmt"
	"math/rand/v2"
	"runtime"
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

// foo returns a Foo with a number, which is also its version.
func foo(name string, number int) *v1alpha1.Foo {
	return &v1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, ResourceVersion: strconv.Itoa(number)},
		Spec: v1alpha1.FooSpec{DeploymentName: "d" + strconv.Itoa(number%7), Replicas: new(int32(number))}}
}

// TestStore: our store and client-go's are equal after each of many changes. Ours has a change before its
// handler is called. Readers never see half of a change.
func TestStore(t *testing.T) {
	content := func(store cache.Indexer) string {
		_, err := store.ByIndex("another", "")
		content := fmt.Sprintln(show(store.List()...), store.LastStoreSyncResourceVersion(), err != nil)
		for n := range 7 {
			found, _ := store.ByIndex("byDeploymentName", "default/d"+strconv.Itoa(n))
			content += fmt.Sprintln(n, show(found...))
		}
		return content
	}
	var ours *Store
	theirs, indexers := cache.NewIndexer(cache.MetaNamespaceKeyFunc, core.FooIndexers()), core.FooIndexers()
	indexers["locked"] = func(any) ([]string, error) {
		if ours.mu.TryRLock() {
			t.Fatal("a reader sees half of a change")
		}
		return nil, nil
	}
	ours = NewStore(indexers)
	go func() {
		for t.Context().Err() == nil {
			content(ours)
		}
	}()
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
		if len(ours.index) > len(ours.objects) {
			t.Fatalf("the index has %d values of %d objects", len(ours.index), len(ours.objects))
		}
	}
}

// TestWhatGrows: a handler that blocks costs memory for each change, in client-go's informer, too. -v prints
// the numbers.
func TestWhatGrows(t *testing.T) {
	for _, swapped := range []clientGo{"", "shared"} {
		synctest.Test(t, func(t *testing.T) {
			w, queue := newWorld(t, swapped), NewQueue()
			_, _ = w.informer.AddEventHandler(controller.EnqueueObject(queue))
			w.add("", time.Hour)
			w.begin()
			before := liveHeap()
			for n := range int64(1000) {
				w.set("a", n)
			}
			w.later(time.Second)
			w.Compact() // the server's history takes memory of this process, too
			w.EndWatches("foos")
			synctest.Wait()
			each := (liveHeap() - before) / 1000
			w.end()
			t.Logf("client-go=%s: %d bytes for each change of a Foo, and %d key in the queue", swapped, each, len(queue.dirty))
			if each < 200 || each > 2000 || len(queue.dirty) != 1 {
				t.Error("README.md has different numbers")
			}
		})
	}
}

// liveHeap returns the bytes of the heap in use. Some objects, such as those in a sync.Pool, survive the
// first garbage collection.
func liveHeap() int {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return int(stats.HeapAlloc)
}

// TestQueue: our queue and client-go's return the same keys at the same times and count the same failures.
// ShutDown returns queued keys, drops delayed ones, and ends every worker.
func TestQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queues := []workqueue.TypedRateLimitingInterface[cache.ObjectName]{NewQueue(), workqueue.NewTypedRateLimitingQueue(
			workqueue.NewTypedItemExponentialFailureRateLimiter[cache.ObjectName](5*time.Millisecond, 30*time.Second))}
		taken := make([][]string, len(queues))
		var mu sync.Mutex
		var working sync.WaitGroup
		for i, q := range queues {
			for range 4 {
				working.Go(func() {
					for key, shutdown := q.Get(); !shutdown; key, shutdown = q.Get() {
						mu.Lock()
						taken[i] = append(taken[i], fmt.Sprint(time.Now().UnixNano(), key))
						mu.Unlock()
						time.Sleep(time.Duration(key.Name[0]) * 11 * time.Millisecond)
						q.Done(key)
					}
				})
			}
		}
		for range 5000 {
			what, key, delay := rand.N(40), cache.NewObjectName("", string(rune('a'+rand.N(10)))), rand.N(time.Minute)
			for _, q := range queues {
				switch {
				case what == 0:
					q.Forget(key)
				case what < 6:
					q.AddAfter(key, delay)
				case what < 16:
					q.AddRateLimited(key)
				default:
					q.Add(key)
				}
			}
			if ours, theirs := queues[0].NumRequeues(key), queues[1].NumRequeues(key); ours != theirs {
				t.Errorf("%s has failed %d times, client-go says %d", key, ours, theirs)
			}
			time.Sleep(rand.N(300 * time.Millisecond))
		}
		time.Sleep(time.Hour) // All workers wait.
		for _, q := range queues {
			q.Add(cache.NewObjectName("", "last"))
			q.AddAfter(cache.NewObjectName("", "late"), time.Second)
			q.ShutDown()
			q.Add(cache.NewObjectName("", "later"))
		}
		working.Wait()
		if diff := cmp.Diff(taken[1], taken[0]); diff != "" {
			t.Errorf("keys and their times (-client-go +ours):\n%s", diff)
		}
	})
}
