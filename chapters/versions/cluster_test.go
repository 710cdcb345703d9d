//go:build integration

package main

import (
	"log"
	"os"
	"testing"
	"time"

	"k8s.io/client-go/discovery"

	"example.com/byhand/chapters/internal/chaptertest"
)

func TestMain(m *testing.M) { os.Exit(chaptertest.Run(m)) }

const (
	definitionName = "pizzas." + group
	alphaPizzas    = "pizzas.v1alpha1." + group
	betaPizzas     = "pizzas.v1beta1." + group
)

// cluster is a real API server, with the definition. There is one of it, so no two of these
// tests run at the same time.
type cluster struct {
	*chaptertest.Cluster
	requests *api
	etcd     string
	account  string // a kubeconfig with the rights of config/rbac, which are enough
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{Cluster: chaptertest.New(t)}
	client, err := discovery.NewDiscoveryClientForConfig(c.Config)
	if err != nil {
		t.Fatal(err)
	}
	c.requests = &api{client.RESTClient(), 2 * time.Second}
	c.account = c.AccountWith("byhand-versions")
	if c.etcd, err = etcdOf(c.Kubeconfig); err != nil {
		t.Fatal(err)
	}
	// The next test has the definition anew, without any Pizza.
	t.Cleanup(func() {
		c.Shell("sh down.sh && kubectl delete --ignore-not-found -f config/crd && kubectl apply -f config/crd")
		c.Shell("kubectl wait --for=condition=Established --timeout=30s -f config/crd")
	})
	return c
}

// start runs the program until the API server serves both versions.
func (c *cluster) start() *chaptertest.Program {
	c.Helper()
	p := c.Start("--kubeconfig", c.account)
	p.Prints(1, "ready: ")
	return p
}

// migrate waits until the API server has seen the switch, and not for the writes of others: there are none.
func (c *cluster) migrate() {
	c.Helper()
	if err := c.requests.migrate(c.Context(), log.New(c.Output(), "", 0)); err != nil {
		c.Fatal(err)
	}
}

// storeBeta changes the storage version, as the README does.
func (c *cluster) storeBeta() {
	c.Helper()
	c.Kubectl("patch", "crd", definitionName, "--type=json", "-p",
		`[{"op":"replace","path":"/spec/versions/0/storage","value":false},{"op":"replace","path":"/spec/versions/1/storage","value":true}]`)
}
