//go:build integration

package main

import "testing"

// The rights in config/rbac are enough for everything that the program does.
func TestRights(t *testing.T) {
	c := newCluster(t)
	asAccount := c.AccountWith("byhand-versions")

	// To install, to migrate there and back, to take away.
	p := c.Start("--kubeconfig", asAccount)
	p.Prints(1, "ready: ")
	c.Kubectl("apply", "-f", "config/pizzas")
	for _, version := range []string{"v1beta1", "v1alpha1"} {
		c.store(version)
		migration := c.Start("--kubeconfig", asAccount, "migrate")
		if code := migration.Exit(); code != 0 {
			t.Errorf("migrate to %s: exit code %d", version, code)
		}
		if err := c.storedAs(c.Namespace+"/double", version); err != nil {
			t.Error(err)
		}
	}
	c.stop(p)
	p.Prints(1, "taken away: ")
}
