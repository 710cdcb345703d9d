//go:build integration

package main

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// herbs are what was answered: the resourceVersion of each topping, "" of one that is gone.
// A topping whose last write was not answered is not among them: nobody knows.
type herbs struct {
	sync.Mutex
	versions map[string]string
	newest   int64
}

// write sends one write, and notes the answer.
func (h *herbs) write(name string, send func() (*unstructured.Unstructured, error)) bool {
	h.Lock()
	delete(h.versions, name)
	h.Unlock()
	written, err := send()
	if err != nil {
		return false
	}
	h.Lock()
	defer h.Unlock()
	h.versions[name] = ""
	if written != nil {
		h.versions[name] = written.GetResourceVersion()
		h.newest = max(h.newest, versionOf(written.GetResourceVersion()))
	}
	return true
}

func versionOf(text string) int64 {
	version, _ := strconv.ParseInt(text, 10, 64)
	return version
}

// grow creates toppings, changes each, and deletes every third, until a write fails.
func (c *cluster) grow(h *herbs, prefix string) {
	client, ctx := c.Resource(toppingResource), c.Context()
	for i := 0; ; i++ {
		name := fmt.Sprintf("%s-%d", prefix, i)
		herb := newTopping(name, int64(i))
		isAlive := h.write(name, func() (*unstructured.Unstructured, error) {
			return client.Create(ctx, herb, metav1.CreateOptions{})
		}) && h.write(name, func() (*unstructured.Unstructured, error) {
			return client.Patch(ctx, name, types.MergePatchType, []byte(`{"spec":{"cost":7777}}`), metav1.PatchOptions{})
		}) && (i%3 > 0 || h.write(name, func() (*unstructured.Unstructured, error) {
			return nil, client.Delete(ctx, name, metav1.DeleteOptions{})
		}))
		if !isAlive {
			return
		}
	}
}

// Killed while it is written to, again and again, it loses nothing that was answered. No
// revision goes back, and a watcher goes on where it was, or is told 410.
func TestKilled(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	c := newCluster(t)
	h := &herbs{versions: map[string]string{}}
	for round := range kills {
		var writers sync.WaitGroup
		for writer := range 4 {
			writers.Go(func() { c.grow(h, fmt.Sprintf("herb-%d-%d", round, writer)) })
		}
		c.Eventually("some writes", func() error {
			h.Lock()
			defer h.Unlock()
			if len(h.versions) < 5*(round+1) {
				return fmt.Errorf("%d so far", len(h.versions))
			}
			return nil
		})
		time.Sleep(time.Duration(random.Int64N(int64(50 * time.Millisecond)))) // The kill comes at any moment.
		c.kill()
		writers.Wait()
		c.run()
		c.check(h)
	}
	t.Logf("%d kills, %d toppings, revision %d", kills, len(h.versions), h.newest)
}

// check compares what is stored with what was answered before.
func (c *cluster) check(h *herbs) {
	c.Helper()
	list, err := c.Resource(toppingResource).List(c.Context(), metav1.ListOptions{})
	if err != nil {
		c.Fatal(err)
	}
	got := map[string]string{}
	for _, topping := range list.Items {
		got[topping.GetName()] = topping.GetResourceVersion()
	}
	for name, version := range h.versions {
		if got[name] != version {
			c.Errorf("%s is of version %q, was answered with %q", name, got[name], version)
		}
	}
	if now := versionOf(list.GetResourceVersion()); now < h.newest {
		c.Errorf("the revision is %d, was %d", now, h.newest)
	}
	// A watcher that has seen half of it sees the next event, or is told.
	half := strconv.FormatInt(h.newest/2, 10)
	watcher, err := c.Resource(toppingResource).Watch(c.Context(), metav1.ListOptions{ResourceVersion: half})
	if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		return
	}
	if err != nil {
		c.Fatal(err)
	}
	defer watcher.Stop()
	event := <-watcher.ResultChan()
	topping, ok := event.Object.(*unstructured.Unstructured)
	if next := strconv.FormatInt(h.newest/2+1, 10); !ok || topping.GetResourceVersion() != next {
		c.Errorf("after version %s comes %s %v, want what was written in %s", half, event.Type, event.Object, next)
	}
}

// The program takes its registration away when it ends. One that was killed leaves it, until
// the next one ends; TestReadme shows what takes it away without one.
func TestRegistration(t *testing.T) {
	c := newCluster(t)
	registered := func(when string, want int) {
		t.Helper()
		if got := strings.Count(c.Kubectl("get", "apiservices,services", "-A", "-o", "name"), "aggregated"); got != want {
			t.Errorf("%s there are %d APIServices and Services, want %d", when, got, want)
		}
	}
	registered("while it runs", 3)
	c.Kubectl("delete", "apiservice", apiServiceName(hub))
	c.Eventually("a deleted APIService is there again", func() error {
		if all := c.Kubectl("get", "apiservices", "-o", "name"); !strings.Contains(all, apiServiceName(hub)) {
			return fmt.Errorf("there are %s", all)
		}
		return nil
	})
	c.kill()
	registered("when it was killed", 3)
	c.run()
	c.stop()
	registered("when it has ended", 0)
}
