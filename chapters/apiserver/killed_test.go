//go:build integration

package main

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// TestKilled: after a kill the program starts empty, at a higher version.
func TestKilled(t *testing.T) {
	c := newCluster(t)
	toppings := c.Resource(toppingResource)
	newest := 0
	for round := range 3 {
		for i := range 10 {
			created, err := toppings.Create(t.Context(), newTopping(fmt.Sprintf("herb-%d-%d", round, i), 1), metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			newest, _ = strconv.Atoi(created.GetResourceVersion())
		}
		c.program.Kill()
		c.run()
		list, err := toppings.List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if version, _ := strconv.Atoi(list.GetResourceVersion()); len(list.Items) > 0 || version <= newest {
			t.Errorf("after a restart it has %d toppings at version %d; before, the version was %d", len(list.Items), version, newest)
		}
		events, err := toppings.Watch(t.Context(), metav1.ListOptions{ResourceVersion: strconv.Itoa(newest)})
		if err != nil {
			t.Fatal(err)
		}
		if event := <-events.ResultChan(); event.Type != watch.Error || !strings.Contains(fmt.Sprint(event.Object), "too old resource version") {
			t.Errorf("a watch from an earlier version begins with %v, want 410", event)
		}
		events.Stop()
	}
}

// TestRegistration: the program removes its registration when it exits, but not when it is killed.
func TestRegistration(t *testing.T) {
	c := newCluster(t)
	registered := func(when string, want int) {
		t.Helper()
		if got := strings.Count(c.Kubectl("get", "apiservices,services", "-A", "-o", "name"), "aggregated"); got != want {
			t.Errorf("%s the cluster has %d APIServices and Services, want %d", when, got, want)
		}
	}
	registered("while it runs", 2)
	c.program.Kill()
	registered("after a kill", 2)
	c.run()
	c.program.Stop()
	registered("after it has exited", 0)
}
