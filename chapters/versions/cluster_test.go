//go:build integration

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"k8s.io/client-go/discovery"

	"example.com/byhand/chapters/internal/chaptertest"
)

func TestMain(m *testing.M) { os.Exit(chaptertest.Run(m)) }

const (
	definitionName = "pizzas." + group
	alphaPizzas    = "pizzas.v1alpha1." + group
	betaPizzas     = "pizzas.v1beta1." + group
)

// inUse is held by the test that uses the definition. There is one of it, and one program
// for it, so these tests run one after the other; those that need neither run meanwhile.
var inUse sync.Mutex

// cluster is a real API server, with the definition.
type cluster struct {
	*chaptertest.Cluster
	requests *api
	etcd     string
	account  string // a kubeconfig with the rights of config/rbac, which are enough
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	t.Parallel()
	inUse.Lock()
	t.Cleanup(inUse.Unlock)
	c := &cluster{Cluster: chaptertest.New(t)}
	client, err := discovery.NewDiscoveryClientForConfig(c.Config)
	if err != nil {
		t.Fatal(err)
	}
	c.requests = &api{rest: client.RESTClient()}
	c.account = c.AccountWith("byhand-versions")
	if c.etcd, err = etcdOf(c.Kubeconfig); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			c.reset()
		}
	})
	return c
}

// reset makes the definition anew, without any Pizza, for the next test.
func (c *cluster) reset() {
	for _, command := range []string{"sh down.sh", "kubectl delete --ignore-not-found -f config/crd", "kubectl apply -f config/crd",
		"kubectl wait --for=condition=Established --timeout=30s -f config/crd"} {
		if output, err := exec.Command("sh", "-c", command).CombinedOutput(); err != nil {
			c.Logf("%s: %v\n%s", command, err, output)
		}
	}
}

// start runs the program until the API server serves both versions.
func (c *cluster) start() *chaptertest.Program {
	c.Helper()
	p := c.Start("--kubeconfig", c.account)
	p.Prints(1, "ready: ")
	return p
}

// storedAs returns an error unless etcd has a Pizza in this version.
func (c *cluster) storedAs(key, version string) error {
	pizza, err := stored(c.Context(), c.etcd, key)
	if err == nil && pizza.APIVersion != group+"/"+version {
		err = fmt.Errorf("etcd has %s, want %s", pizza.APIVersion, version)
	}
	return err
}

// store changes the storage version, as the README does.
func (c *cluster) store(version string) {
	c.Helper()
	c.Kubectl("patch", "crd", definitionName, "--type=json", "-p", fmt.Sprintf(
		`[{"op":"replace","path":"/spec/versions/0/storage","value":%t},{"op":"replace","path":"/spec/versions/1/storage","value":%t}]`,
		version == "v1alpha1", version == "v1beta1"))
}

// checkout is a folder that looks like this repository to the commands of the README.
func (c *cluster) checkout() string {
	c.Helper()
	here, err := filepath.Abs("..")
	if err != nil {
		c.Fatal(err)
	}
	dir := c.TempDir()
	if err := errors.Join(
		os.Symlink(here, filepath.Join(dir, "chapters")),
		os.Mkdir(filepath.Join(dir, "bin"), 0o700),
		os.Symlink(chaptertest.Binary(), filepath.Join(dir, "bin", "versions")),
	); err != nil {
		c.Fatal(err)
	}
	return dir
}
