//go:build integration

package main

import (
	"fmt"
	"strings"
	"testing"
)

// Ended while Pizzas are stored as v1beta1, the program leaves a definition that works for
// v1beta1 without it, and hands out nothing wrong. Started again it converts them all.
func TestEndAfterMigration(t *testing.T) {
	c := newCluster(t)
	p := c.start()
	c.Kubectl("apply", "-f", "config/pizzas")
	c.storeBeta()
	c.migrate("v1beta1")
	p.Stop()
	p.Prints(1, "kept: ")
	if output := c.Kubectl("get", betaPizzas, "layered", "-o", "jsonpath={.spec.toppings}"); !strings.Contains(output, `"quantity":2`) {
		t.Errorf("v1beta1 without the program: %s", output)
	}
	c.Kubectl("label", betaPizzas, "layered", "seen=yes")
	c.KubectlFails("get", alphaPizzas, "layered")

	// make chapter applies the definition. Now v1alpha1 is served, and fails aloud.
	c.Kubectl("apply", "-f", "config/crd", "-f", "config/samples")
	c.Eventually("v1alpha1 of what is stored as v1beta1 fails", func() error {
		if output := c.KubectlFails("get", alphaPizzas, "layered", "-o", "jsonpath={.spec}"); !strings.Contains(output, "conversion webhook") {
			return fmt.Errorf("%s", output)
		}
		return nil
	})
	p = c.start()
	if output := c.Kubectl("get", alphaPizzas, "layered", "-o", "jsonpath={.spec.toppings}"); output != `["salami","tomato","salami"]` {
		t.Errorf("v1alpha1 with the program: %s", output)
	}
	c.migrate("v1alpha1")
	p.Stop()
	p.Prints(1, "taken away: ")
}
