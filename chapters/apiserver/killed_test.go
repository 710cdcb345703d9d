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

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// kills are how often TestKilled kills the program.
const kills = 100

// Killed while it is written to, again and again, it begins empty each time. No revision goes
// back, and a client that goes on where it was is told 410: an informer lists again then.
func TestKilled(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	c := newCluster(t)
	toppings := c.Resource(toppingResource)
	var mu sync.Mutex
	var answered, newest int64
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
					answered++
					newest = max(newest, versionOf(created.GetResourceVersion()))
					mu.Unlock()
				}
			})
		}
		c.Eventually("some writes", func() error {
			mu.Lock()
			defer mu.Unlock()
			if answered < int64(10*(round+1)) {
				return fmt.Errorf("%d so far", answered)
			}
			return nil
		})
		time.Sleep(time.Duration(random.Int64N(int64(50 * time.Millisecond)))) // The kill comes at any moment.
		c.program.Kill()
		writers.Wait()
		c.run()
		list, err := toppings.List(t.Context(), metav1.ListOptions{})
		if err != nil || len(list.Items) > 0 || versionOf(list.GetResourceVersion()) <= newest {
			t.Fatalf("after a restart there are %v (%v), and the revision was %d", list, err, newest)
		}
		_, err = toppings.Watch(t.Context(), metav1.ListOptions{ResourceVersion: strconv.FormatInt(newest, 10)})
		if !apierrors.IsResourceExpired(err) {
			t.Errorf("a watch from before: %v, want 410", err)
		}
	}
	t.Logf("%d kills, %d toppings", kills, answered)
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
	registered("while it runs", 2)
	c.program.Kill()
	registered("when it was killed", 2)
	c.run()
	c.program.Stop()
	registered("when it has ended", 0)
}
