//go:build integration

package main

import (
	"fmt"
	"log"
	"strings"
	"testing"
)

// logTo returns a logger of the test.
func logTo(t *testing.T) *log.Logger { return log.New(t.Output(), "", 0) }

// What is written in one version is read in both, whichever is stored.
func TestEveryPair(t *testing.T) {
	c := newCluster(t)
	p := c.start()
	for _, storage := range []string{"v1alpha1", "v1beta1"} {
		c.store(storage)
		for write, other := range map[string]string{"v1alpha1": "v1beta1", "v1beta1": "v1alpha1"} {
			t.Run("stored as "+storage+", written in "+write, func(t *testing.T) {
				on, of := *c, *c.Cluster
				of.T, on.Cluster = t, &of
				on.pair(storage+"-"+write, storage, write, other)
			})
		}
	}
	c.store("v1alpha1")
	if err := c.requests.migrate(t.Context(), logTo(t)); err != nil {
		t.Error(err)
	}
	c.stop(p)
}

// pair writes a Pizza in one version, and reads it in both.
func (c *cluster) pair(name, storage, write, other string) {
	c.Helper()
	c.Apply(pizza(write, name, "salami", "tomato", "tomato"))
	c.reads("apply", name, "salami", "tomato", "tomato")
	if err := c.storedAs(c.Namespace+"/"+name, storage); err != nil {
		c.Error(err)
	}
	// A client of the other version that changes something else loses nothing.
	c.Kubectl("label", "pizzas."+other+"."+group, name, "seen=yes")
	c.reads("label", name, "salami", "tomato", "tomato")
}

// reads waits until a Pizza has these toppings in both versions.
func (c *cluster) reads(what, name string, toppings ...string) {
	c.Helper()
	want := spec("v1alpha1", toppings...) + " " + spec("v1beta1", toppings...)
	c.Eventually(what, func() error {
		if got := c.Kubectl("get", alphaPizzas+"/"+name, betaPizzas+"/"+name, "-o", "jsonpath={.items[*].spec.toppings}"); got != want {
			return fmt.Errorf("%s, want %s", got, want)
		}
		return nil
	})
}

// pizza is YAML of a Pizza, in which equal toppings stand side by side.
func pizza(version, name string, toppings ...string) string {
	return fmt.Sprintf("apiVersion: %s/%s\nkind: Pizza\nmetadata: {name: %s}\nspec: {toppings: %s}\n", group, version, name, spec(version, toppings...))
}

// spec is how a version writes these toppings, as JSON.
func spec(version string, toppings ...string) string {
	if version == "v1alpha1" {
		return `["` + strings.Join(toppings, `","`) + `"]`
	}
	var items []string
	for len(toppings) > 0 {
		quantity := 1
		for quantity < len(toppings) && toppings[quantity] == toppings[0] {
			quantity++
		}
		items = append(items, fmt.Sprintf(`{"name":"%s","quantity":%d}`, toppings[0], quantity))
		toppings = toppings[quantity:]
	}
	return "[" + strings.Join(items, ",") + "]"
}
