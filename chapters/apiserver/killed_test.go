//go:build integration

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Killed while it is written to, again and again, it loses nothing that was answered, and no
// revision goes back.
func TestKilled(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	c := newCluster(t)
	toppings := c.Resource(toppingResource)
	var mu sync.Mutex
	answered, newest := map[string]string{}, int64(0)
	for round := range kills {
		var writers sync.WaitGroup
		for writer := range 4 {
			writers.Go(func() {
				for i := 0; ; i++ {
					created, err := toppings.Create(context.Background(), newTopping(fmt.Sprintf("herb-%d-%d-%d", round, writer, i), 1), metav1.CreateOptions{})
					if err != nil {
						return
					}
					mu.Lock()
					answered[created.GetName()] = created.GetResourceVersion()
					newest = max(newest, versionOf(created.GetResourceVersion()))
					mu.Unlock()
				}
			})
		}
		c.Eventually("some writes", func() error {
			mu.Lock()
			defer mu.Unlock()
			if len(answered) < 10*(round+1) {
				return fmt.Errorf("%d so far", len(answered))
			}
			return nil
		})
		time.Sleep(time.Duration(random.Int64N(int64(50 * time.Millisecond)))) // The kill comes at any moment.
		c.kill()
		writers.Wait()
		c.run()
		list, err := toppings.List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		stored := map[string]string{}
		for _, topping := range list.Items {
			stored[topping.GetName()] = topping.GetResourceVersion()
		}
		for name, version := range answered {
			if stored[name] != version {
				t.Errorf("%s is of version %q, was answered with %q", name, stored[name], version)
			}
		}
		if now := versionOf(list.GetResourceVersion()); now < newest {
			t.Errorf("the revision is %d, was %d", now, newest)
		}
	}
	t.Logf("%d kills, %d toppings", kills, len(answered))
}

func versionOf(text string) int64 {
	version, _ := strconv.ParseInt(text, 10, 64)
	return version
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
