//go:build integration

package main

import (
	"errors"
	"strings"
	"sync"
	"testing"
)

// Whatever others make of the registration, it is as it was after webhook.Period: what they change
// and add, and an object without the annotation that says whose it is. The program takes it away
// before it stops answering: a client that orders all the time sees no error. For all that the
// rights in config/rbac are enough.
func TestLife(t *testing.T) {
	c := newCluster(t)
	p := c.start(c.AccountWith("byhand-admission"))
	const object = "validatingwebhookconfiguration/byhand-admission"
	c.Kubectl("patch", object, "--type=json", "-p", `[{"op":"remove","path":"/metadata/annotations"},
		{"op":"replace","path":"/webhooks/0/objectSelector","value":{"matchLabels":{"nobody":"has"}}},
		{"op":"add","path":"/webhooks/0/matchConditions","value":[{"name":"never","expression":"false"}]}]`)
	c.Eventually("the registration is as it was", func() error {
		webhooks := c.Kubectl("get", object, "-o", "jsonpath={.webhooks}")
		if strings.Contains(webhooks, "nobody") || strings.Contains(webhooks, "never") {
			return errors.New(webhooks)
		}
		return c.refusesAnchovy()
	})

	ended := make(chan struct{})
	var ordering sync.WaitGroup
	for range 4 {
		ordering.Go(func() {
			for {
				select {
				case <-ended:
					return
				default:
				}
				if _, err := c.order("tomato"); err != nil {
					t.Errorf("at the end of the program: %v", err)
					return
				}
			}
		})
	}
	p.Stop()
	p.Prints(1, "stopped")
	close(ended)
	ordering.Wait()
	if c.registered() {
		t.Error("the registration is still there")
	}
}
