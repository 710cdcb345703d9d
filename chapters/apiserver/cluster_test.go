//go:build integration

package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"example.com/byhand/chapters/internal/chaptertest"
)

// There is one registration in a cluster, so these tests run one after the other, and after
// those of the other chapters: while the program is killed, no namespace can be deleted.
func TestMain(m *testing.M) { os.Exit(chaptertest.Run(m)) }

// cluster is an API server, a namespace, and this program behind it.
type cluster struct {
	*chaptertest.Cluster
	dynamic.Interface
	// account is a kubeconfig with the rights of config/rbac, which are enough.
	account string
	program *chaptertest.Program
	runs    bool
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{Cluster: chaptertest.New(t)}
	c.Interface = dynamic.NewForConfigOrDie(c.Config)
	c.Shell("kubectl apply -f config/rbac")
	t.Cleanup(func() { c.Shell("kubectl delete -f config/rbac") })
	c.account = c.As(c.Kubectl("create", "token", "byhand-apiserver", "--namespace", "default"))
	c.run()
	return c
}

// run starts the program. It is stopped when the test ends, if it runs then: a registration
// that is left would stop the deletion of all namespaces.
func (c *cluster) run() {
	c.Helper()
	c.program = c.Start("--kubeconfig", c.account)
	c.runs = true
	c.program.Prints(1, "ready: ")
	program := c.program
	c.Cleanup(func() {
		if c.runs && c.program == program {
			c.stop()
		}
	})
}

// stop ends the program as Ctrl-C does.
func (c *cluster) stop() {
	c.runs = false
	c.program.Stop()
}

func (c *cluster) kill() {
	c.runs = false
	c.program.Kill()
}

var (
	configMapResource   = corev1.SchemeGroupVersion.WithResource("configmaps")
	namespaceResource   = corev1.SchemeGroupVersion.WithResource("namespaces")
	clusterRoleResource = rbacv1.SchemeGroupVersion.WithResource("clusterroles")
)

// menu creates the toppings of the samples.
func (c *cluster) menu() {
	c.Helper()
	c.Kubectl("apply", "-f", "config/samples")
}

// shows waits until kubectl prints this.
func (c *cluster) shows(want string, args ...string) {
	c.Helper()
	c.Eventually(strings.Join(args, " "), func() error {
		if got := c.Kubectl(args...); !strings.Contains(got, want) {
			return fmt.Errorf("want %q, got\n%s", want, got)
		}
		return nil
	})
}

// goes waits until an object is gone.
func (c *cluster) goes(resource dynamic.ResourceInterface, name string) {
	c.Helper()
	c.Eventually("the end of "+name, func() error {
		if _, err := resource.Get(c.Context(), name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("it is still there (%v)", err)
		}
		return nil
	})
}

// What one program can bear at the same time, each in a namespace of its own. Most of it waits
// for a controller of Kubernetes.
func TestTogether(t *testing.T) {
	c := newCluster(t)
	c.menu()
	for name, test := range map[string]func(*cluster){
		"Kubectl": testKubectl, "GarbageCollection": testGarbageCollection,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			own := &cluster{Cluster: chaptertest.New(t), Interface: c.Interface, program: c.program}
			test(own)
		})
	}
}
