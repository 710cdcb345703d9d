//go:build integration

package main

import (
	"fmt"
	"os"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"example.com/byhand/chapters/internal/chaptertest"
)

// These tests share one registration, so they run one after the other, and after the other
// chapters' tests: while the program is down, no namespace can be deleted.
func TestMain(m *testing.M) { os.Exit(chaptertest.Run(m)) }

// cluster is an API server, a namespace, and this program behind it.
type cluster struct {
	*chaptertest.Cluster
	dynamic.Interface
	// account is a kubeconfig with the permissions of config/rbac.
	account string
	program *chaptertest.Program
}

// newCluster starts the program. At the end of the test it removes the registration.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{Cluster: chaptertest.New(t)}
	c.Interface = dynamic.NewForConfigOrDie(c.Config)
	c.Shell("kubectl apply -f config/rbac")
	t.Cleanup(func() { c.Shell("sh down.sh; kubectl delete -f config/rbac") })
	c.account = c.As(c.Kubectl("create", "token", "byhand-apiserver", "--namespace", "default"))
	c.run()
	return c
}

func (c *cluster) run() {
	c.Helper()
	c.program = c.Start("--kubeconfig", c.account)
	c.program.Prints(1, "ready: ")
}

var (
	toppingResource     = version.WithResource("toppings")
	configMapResource   = corev1.SchemeGroupVersion.WithResource("configmaps")
	namespaceResource   = corev1.SchemeGroupVersion.WithResource("namespaces")
	clusterRoleResource = rbacv1.SchemeGroupVersion.WithResource("clusterroles")
)

// goes waits until an object is gone.
func (c *cluster) goes(resource dynamic.ResourceInterface, name string) {
	c.Helper()
	c.Eventually("the end of "+name, func() error {
		if _, err := resource.Get(c.Context(), name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("it still exists (%v)", err)
		}
		return nil
	})
}

func newTopping(name string, cost int64) *unstructured.Unstructured {
	topping := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"cost": cost}}}
	topping.SetGroupVersionKind(kind)
	topping.SetName(name)
	return topping
}
