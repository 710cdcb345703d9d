//go:build integration

package main

import (
	"errors"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// The program takes its registration away before it stops answering: a client that orders all
// the time sees no error.
func TestEnds(t *testing.T) {
	c := newCluster(t)
	p := c.start(c.Kubeconfig)
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
	p.Signal(syscall.SIGTERM)
	code := p.Exit()
	close(ended)
	ordering.Wait()
	if code != 0 || !strings.Contains(p.Output(), "stopped") {
		t.Errorf("exit code %d after SIGTERM", code)
	}
	if c.registered() {
		t.Error("the registration is still there")
	}
	if _, err := c.order("anchovy"); err != nil {
		t.Errorf("nothing is asked any more, and still: %v", err)
	}
}

// Whatever others make of the registration, it is as it was after webhook.Period: what they add, and
// an object without the annotation that says whose it is. At its end the program removes it. For all
// that the rights in config/rbac are enough.
func TestRestores(t *testing.T) {
	c := newCluster(t)
	c.Kubectl("apply", "-f", "config/rbac/role.yaml")
	c.Kubectl("create", "clusterrolebinding", c.Namespace, "--clusterrole=byhand-admission", "--serviceaccount="+c.Namespace+":default")
	t.Cleanup(func() { c.Kubectl("delete", "clusterrolebinding/"+c.Namespace, "clusterrole/byhand-admission") })
	p := c.start(c.As(c.Kubectl("create", "token", "default")))
	const object = "validatingwebhookconfiguration/byhand-admission"
	for _, patch := range []string{
		`[{"op":"replace","path":"/webhooks/0/objectSelector","value":{"matchLabels":{"nobody":"has"}}}]`,
		`[{"op":"add","path":"/webhooks/0/matchConditions","value":[{"name":"never","expression":"false"}]}]`,
		`[{"op":"remove","path":"/metadata/annotations"},{"op":"remove","path":"/webhooks"}]`,
	} {
		c.Kubectl("patch", object, "--type=json", "-p", patch)
		c.Eventually("after "+patch, func() error {
			webhooks := c.Kubectl("get", object, "-o", "jsonpath={.webhooks}")
			if webhooks == "" || strings.Contains(webhooks, "nobody") || strings.Contains(webhooks, "never") {
				return errors.New(webhooks)
			}
			return c.refusesAnchovy()
		})
	}
	p.Stop()
	if c.registered() {
		t.Error("the registration is still there")
	}
}
