//go:build integration

package main

import (
	"os"
	"testing"
	"time"

	"example.com/byhand/chapters/internal/chaptertest"
)

func TestMain(m *testing.M) { os.Exit(chaptertest.Run(m)) }

const definitionName = "pizzas." + group

// cluster is a real API server with the definition. All tests share it, so they do not run in
// parallel.
type cluster struct {
	*chaptertest.Cluster
	account string // a kubeconfig with the permissions of config/rbac
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{Cluster: chaptertest.New(t)}
	c.account = c.AccountWith("byhand-versions")
	// The next test gets a new definition, without any Pizza.
	t.Cleanup(func() {
		c.Shell("sh down.sh && kubectl delete --ignore-not-found -f config/crd && kubectl apply -f config/crd")
		c.Shell("kubectl wait --for=condition=Established --timeout=30s -f config/crd")
	})
	return c
}

// start starts the program and waits until the API server serves both versions.
func (c *cluster) start() *chaptertest.Program {
	c.Helper()
	p := c.Start("--kubeconfig", c.account)
	p.Prints(1, "ready: ")
	return p
}

// migrate writes every Pizza again, and then updates the CRD's status. It is faster than a
// StorageVersionMigration, but safe only while no other client writes.
func (c *cluster) migrate(version string) {
	c.Helper()
	time.Sleep(2 * time.Second) // until the API server has seen the switch
	c.Shell("kubectl annotate pizzas." + version + "." + group + " --all --all-namespaces --overwrite migrated=" + version)
	c.Kubectl("patch", "crd", definitionName, "--subresource=status", "--type=merge", "-p", `{"status":{"storedVersions":["`+version+`"]}}`)
}
