package chaptertest

import (
	"path/filepath"
	"strings"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"example.com/byhand/kit/check"
	"example.com/byhand/kit/testkit"
)

// AccountWith applies config/rbac/role.yaml and returns a kubeconfig for an account that has only
// this ClusterRole. The role is removed when the test ends.
func (c *Cluster) AccountWith(role string) (kubeconfig string) {
	c.Helper()
	c.Kubectl("apply", "-f", "config/rbac/role.yaml")
	c.Cleanup(func() { c.Kubectl("delete", "clusterrolebinding/"+c.Namespace, "clusterrole/"+role) })
	c.Kubectl("create", "serviceaccount", "program")
	c.Kubectl("create", "clusterrolebinding", c.Namespace, "--clusterrole="+role, "--serviceaccount="+c.Namespace+":program")
	return c.As(c.Kubectl("create", "token", "program"))
}

// ExactAccount is AccountWith for a test in which the program sends every kind of request: the test
// fails if config/rbac/role.yaml has an unnecessary permission. unused lists permissions that the
// test's requests do not need, as in check.Role. The kubeconfig uses the test's namespace.
func (c *Cluster) ExactAccount(role string, unused ...string) (kubeconfig string) {
	c.Helper()
	account, err := clientcmd.BuildConfigFromFlags("", c.AccountWith(role))
	if err != nil {
		c.Fatal(err)
	}
	proxy, err := testkit.NewProxy(account)
	if err != nil {
		c.Fatal(err)
	}
	c.Cleanup(func() {
		_ = proxy.Close()
		if !c.Failed() {
			check.Role(c.T, "config/rbac/role.yaml", proxy.Log(), unused...)
		}
	})
	through := *c
	if through.Kubeconfig, err = proxy.Kubeconfig(c.TempDir()); err != nil {
		c.Fatal(err)
	}
	return through.Here()
}

// As returns a kubeconfig with the token of a ServiceAccount.
func (c *Cluster) As(token string) (kubeconfig string) {
	c.Helper()
	return c.With(func(_ *clientcmdapi.Context, user *clientcmdapi.AuthInfo) {
		*user = clientcmdapi.AuthInfo{Token: strings.TrimSpace(token)}
	})
}

// Here returns a kubeconfig that uses the test's namespace.
func (c *Cluster) Here() (kubeconfig string) {
	c.Helper()
	return c.With(func(current *clientcmdapi.Context, _ *clientcmdapi.AuthInfo) { current.Namespace = c.Namespace })
}

// With returns a kubeconfig with a changed current context or user.
func (c *Cluster) With(change func(current *clientcmdapi.Context, user *clientcmdapi.AuthInfo)) (kubeconfig string) {
	c.Helper()
	config, err := clientcmd.LoadFromFile(c.Kubeconfig)
	if err == nil {
		err = clientcmdapi.FlattenConfig(config) // the paths in the file may be relative to it
	}
	if err != nil {
		c.Fatal(err)
	}
	current := config.Contexts[config.CurrentContext]
	change(current, config.AuthInfos[current.AuthInfo])
	kubeconfig = filepath.Join(c.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, kubeconfig); err != nil {
		c.Fatal(err)
	}
	return kubeconfig
}
