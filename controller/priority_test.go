package controller_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/controller"
)

func named(name string) cache.ObjectName { return cache.NewObjectName("default", name) }

// taken takes all keys from the queue, and returns their names in order.
func taken(queue controller.Queue) (names []string) {
	for queue.Len() > 0 {
		key, _ := queue.Get()
		names = append(names, key.Name)
		queue.Done(key)
	}
	return names
}

func TestUnchangedHasLowPriority(t *testing.T) {
	widget := &metav1.ObjectMeta{Namespace: "default", Name: "first", ResourceVersion: "1"}
	newer := &metav1.ObjectMeta{Namespace: "default", Name: "first", ResourceVersion: "2"}
	configMap := configMapAt("a", "1", controllerRef("mine.example.com/v1", "Widget", "first", "uid"))
	for _, test := range []struct {
		reason string
		event  func(ofWidgets, ofConfigMaps cache.ResourceEventHandler)
		first  string
	}{
		{"a new Widget", func(ofWidgets, _ cache.ResourceEventHandler) { ofWidgets.OnAdd(widget, false) }, "first"},
		{"a Widget of the first list", func(ofWidgets, _ cache.ResourceEventHandler) { ofWidgets.OnAdd(widget, true) }, "other"},
		{"a changed Widget", func(ofWidgets, _ cache.ResourceEventHandler) { ofWidgets.OnUpdate(widget, newer) }, "first"},
		{"a Widget in a resync", func(ofWidgets, _ cache.ResourceEventHandler) { ofWidgets.OnUpdate(widget, widget) }, "other"},
		{"a new ConfigMap", func(_, ofConfigMaps cache.ResourceEventHandler) { ofConfigMaps.OnAdd(configMap, false) }, "first"},
		{"a ConfigMap of the first list", func(_, ofConfigMaps cache.ResourceEventHandler) { ofConfigMaps.OnAdd(configMap, true) }, "other"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			queue := controller.NewQueue("")
			queue.AddLowPriority(named("other"))
			test.event(controller.EnqueueObject(queue), enqueueOwner(queue))
			got := taken(queue)
			if len(got) != 2 || got[0] != test.first {
				t.Errorf("workers get %v, want both keys, %s first", got, test.first)
			}
		})
	}
}

func TestQueueOrder(t *testing.T) {
	for _, test := range []struct {
		reason string
		add    func(queue controller.Queue)
		want   []string
	}{
		{"a change overtakes the initial list", func(queue controller.Queue) {
			queue.AddLowPriority(named("a"))
			queue.AddLowPriority(named("b"))
			queue.Add(named("new"))
		}, []string{"new", "a", "b"}},
		{"a listed key that changes moves forward, and is taken once", func(queue controller.Queue) {
			queue.AddLowPriority(named("a"))
			queue.AddLowPriority(named("b"))
			queue.Add(named("b"))
			queue.AddLowPriority(named("c"))
		}, []string{"b", "a", "c"}},
		{"nothing moves a change backward", func(queue controller.Queue) {
			queue.AddLowPriority(named("a"))
			queue.Add(named("b"))
			queue.AddLowPriority(named("b"))
		}, []string{"b", "a"}},
		{"a key that moved forward and is added again is taken once", func(queue controller.Queue) {
			queue.AddLowPriority(named("a"))
			queue.AddLowPriority(named("b"))
			queue.AddLowPriority(named("c"))
			queue.Add(named("b"))
			key, _ := queue.Get()
			queue.Done(key)
			queue.AddLowPriority(named("b"))
		}, []string{"a", "b", "c"}},
		{"a resync while a worker has the key", func(queue controller.Queue) {
			queue.Add(named("b"))
			key, _ := queue.Get()
			queue.AddLowPriority(named("b"))
			queue.Add(named("a"))
			queue.Done(key)
		}, []string{"a", "b"}},
		{"retried and delayed keys have low priority, even if an event added them before", func(queue controller.Queue) {
			queue.Add(named("failed"))
			key, _ := queue.Get()
			queue.AddRateLimited(key)
			queue.Done(key)
			queue.AddAfter(named("delayed"), time.Second)
			queue.AddLowPriority(named("failed")) // a resync
			queue.AddLowPriority(named("delayed"))
			taken(queue)
			queue.AddLowPriority(named("listed"))
			time.Sleep(2 * time.Second)
			queue.Add(named("changed"))
		}, []string{"changed", "listed", "failed", "delayed"}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			inBubble(t, func(t *testing.T, queue controller.Queue) {
				test.add(queue)
				if diff := cmp.Diff(test.want, taken(queue)); diff != "" {
					t.Errorf("order (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// Many changes do not block keys with low priority.
func TestLowPriorityIsNotStarved(t *testing.T) {
	queue := controller.NewQueue("")
	queue.AddLowPriority(named("patient"))
	for i := range 100 {
		queue.Add(named(fmt.Sprintf("change-%d", i)))
	}
	if got := slices.Index(taken(queue), "patient"); got < 1 || got > 8 {
		t.Errorf("a key with low priority is taken after %d others, want 1 to 8", got)
	}
}

// In random sequences of Add, Get and Done, no key is lost, no key waits twice, and no two workers
// have the same key.
func TestQueueLosesNothing(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 0))
		queue := controller.NewQueue("")
		waits, runs := map[cache.ObjectName]bool{}, map[cache.ObjectName]bool{}
		ready := func() (n int) {
			for key := range waits {
				if !runs[key] {
					n++
				}
			}
			return n
		}
		for range 500 {
			key := named(fmt.Sprint(random.IntN(12)))
			switch choice := random.IntN(4); {
			case choice == 0:
				queue.Add(key)
				waits[key] = true
			case choice == 1:
				queue.AddLowPriority(key)
				waits[key] = true
			case choice == 2 && queue.Len() > 0:
				key, _ = queue.Get()
				if !waits[key] || runs[key] {
					t.Fatalf("seed %d: %s is taken; waiting: %t, processing: %t", seed, key, waits[key], runs[key])
				}
				delete(waits, key)
				runs[key] = true
			case choice == 3 && runs[key]:
				queue.Done(key)
				delete(runs, key)
			}
			if queue.Len() != ready() {
				t.Fatalf("seed %d: %d keys in the queue, want %d", seed, queue.Len(), ready())
			}
		}
		queue.ShutDown()
	}
}
