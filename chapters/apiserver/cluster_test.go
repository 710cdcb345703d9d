//go:build integration

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"example.com/byhand/chapters/internal/chaptertest"
)

// There is one registration in a cluster, so these tests run one after the other, and in a
// cluster of their own (make test-apiserver): while the program is killed, no namespace can
// be deleted.
func TestMain(m *testing.M) { os.Exit(chaptertest.Run(m)) }

// cluster is an API server, a namespace, and this program behind it.
type cluster struct {
	*chaptertest.Cluster
	dynamic.Interface
	store   string
	program *chaptertest.Program
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{Cluster: chaptertest.New(t), store: filepath.Join(t.TempDir(), "store")}
	c.Interface = dynamic.NewForConfigOrDie(c.Config)
	c.run()
	t.Cleanup(func() { c.stop() })
	return c
}

// run starts the program, on the same journal each time.
func (c *cluster) run() {
	c.Helper()
	c.program = c.Start("--kubeconfig", c.Kubeconfig, "--store", c.store)
	c.program.Prints(1, "ready: ")
}

// stop ends the program as Ctrl-C does.
func (c *cluster) stop() {
	c.program.Signal(syscall.SIGTERM)
	if code := c.program.Exit(); code != 0 {
		c.Errorf("exit code %d, want 0", code)
	}
}

// address is where the program listens.
func (c *cluster) address() string {
	c.Helper()
	match := regexp.MustCompile(`ready: \S+ on (\S+),`).FindStringSubmatch(c.program.Output())
	if match == nil {
		c.Fatal("the program does not say where it listens")
	}
	return match[1]
}

// menu creates the toppings and a pizza.
func (c *cluster) menu() {
	c.Helper()
	c.Kubectl("apply", "-f", "config/menu/toppings.yaml", "-f", "config/menu/margherita.yaml")
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

// Everything that kubectl does with a kind of Kubernetes it does with these.
func TestKubectl(t *testing.T) {
	c := newCluster(t)
	c.menu()
	for _, step := range []struct {
		want string
		args []string
	}{
		{"pizzas", []string{"api-resources", "--api-group", group}},
		{"unchanged", []string{"apply", "-f", "config/menu/margherita.yaml"}},
		{"tomato, 2 mozzarella", []string{"get", "pizza"}},
		{"tomato, 2 mozzarella", []string{"get", "pz", "-A"}},
		{"quantity: 2", []string{"get", "pizza", "margherita", "-o", "yaml"}},
		{"- mozzarella", []string{"get", "pizzas.v1alpha1." + group, "margherita", "-o", "yaml"}},
		{`"type":"ADDED"`, []string{"get", "--raw", beta + "toppings?watch=true&timeoutSeconds=1"}},
		{"Quantity is how many portions", []string{"explain", "pizza.spec.toppings.quantity"}},
		{"OwnerReference", []string{"explain", "topping.metadata"}},
		{"created", []string{"create", "-f", "testdata/funghi.yaml"}},
		{"serverside-applied", []string{"apply", "--server-side", "-f", "testdata/marinara.yaml"}},
		{"serverside-applied", []string{"apply", "--server-side", "-f", "testdata/marinara.yaml"}},
		{"patched", []string{"patch", "pizza", "marinara", "--type=merge", "-p", `{"metadata":{"labels":{"fresh":"yes"}}}`}},
		{"patched", []string{"patch", "pizza", "marinara", "--type=json", "-p", `[{"op":"add","path":"/metadata/labels/hot","value":"yes"}]`}},
		{"marinara", []string{"get", "pizza", "-l", "fresh=yes,hot"}},
		{"labeled", []string{"label", "pizza", "marinara", "fresh-"}},
		{"annotated", []string{"annotate", "pizza", "marinara", "note=well"}},
		{"condition met", []string{"wait", "pizza/marinara", "--for=jsonpath={.spec.toppings[0].name}=tomato", "--timeout=10s"}},
		{"server dry run", []string{"apply", "--dry-run=server", "-f", "testdata/funghi.yaml"}},
		{`"cents":250`, []string{"get", "--raw", beta + "namespaces/" + c.Namespace + "/pizzas/margherita/price"}},
		{"deleted", []string{"delete", "pizza", "funghi", "--timeout=20s"}},
		{"deleted", []string{"delete", "pizza", "--all", "--timeout=20s"}},
		{"deleted", []string{"delete", "topping", "--all", "--timeout=20s"}},
	} {
		if step.args[0] == "explain" {
			// The API server learns of new documents within a minute.
			c.Eventually("explain", func() error {
				_, err := c.RESTClient("openapi/v3/apis/" + group + "/" + hub)
				return err
			})
		}
		c.shows(step.want, step.args...)
	}
}

// RESTClient reads a path of the API server.
func (c *cluster) RESTClient(path string) ([]byte, error) {
	return c.Kube.CoreV1().RESTClient().Get().AbsPath(path).DoRaw(c.Context())
}

// What this server refuses, kubectl says.
func TestKubectlRefused(t *testing.T) {
	c := newCluster(t)
	c.menu()
	for _, step := range []struct {
		want string
		args []string
	}{
		{"it is in use", []string{"delete", "topping", "tomato"}},
		{`unknown field "spec.size"`, []string{"create", "-f", "testdata/unknown-field.yaml"}},
		{"NotFound", []string{"get", "pizza", "none"}},
	} {
		if got := c.KubectlFails(step.args...); !strings.Contains(got, step.want) {
			t.Errorf("kubectl %s: want %q, got\n%s", strings.Join(step.args, " "), step.want, got)
		}
	}
}

// The garbage collector follows owner references into this group and out of it.
func TestGarbageCollection(t *testing.T) {
	c := newCluster(t)
	c.menu()
	configMaps := c.Resource(corev1ConfigMaps).Namespace(c.Namespace)
	pizzas := c.Resource(pizzas).Namespace(c.Namespace)
	newObject := func(kind, apiVersion, name string, owner *unstructured.Unstructured) *unstructured.Unstructured {
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind}}
		o.SetName(name)
		if owner != nil {
			o.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: owner.GetAPIVersion(), Kind: owner.GetKind(), Name: owner.GetName(), UID: owner.GetUID(), BlockOwnerDeletion: new(true)}})
		}
		return o
	}
	create := func(resource dynamic.ResourceInterface, o *unstructured.Unstructured) *unstructured.Unstructured {
		t.Helper()
		created, err := resource.Create(t.Context(), o, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return created
	}
	remove := func(resource dynamic.ResourceInterface, name string, policy metav1.DeletionPropagation) {
		t.Helper()
		if err := resource.Delete(t.Context(), name, metav1.DeleteOptions{PropagationPolicy: &policy}); err != nil {
			t.Fatal(err)
		}
	}
	for i, policy := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground} {
		in, out := fmt.Sprintf("in-%d", i), fmt.Sprintf("out-%d", i)
		create(pizzas, newObject("Pizza", group+"/"+hub, in, create(configMaps, newObject("ConfigMap", "v1", in, nil))))
		remove(configMaps, in, policy)
		c.goes(pizzas, in)
		c.goes(configMaps, in)
		create(configMaps, newObject("ConfigMap", "v1", out, create(pizzas, newObject("Pizza", group+"/"+hub, out, nil))))
		remove(pizzas, out, policy)
		c.goes(configMaps, out)
		c.goes(pizzas, out)
	}
	owner := create(pizzas, newObject("Pizza", group+"/"+hub, "orphans", nil))
	create(configMaps, newObject("ConfigMap", "v1", "orphan", owner))
	remove(pizzas, "orphans", metav1.DeletePropagationOrphan)
	c.goes(pizzas, "orphans")
	if orphan, err := configMaps.Get(t.Context(), "orphan", metav1.GetOptions{}); err != nil || len(orphan.GetOwnerReferences()) > 0 {
		t.Errorf("the orphan: %v, %v", orphan, err)
	}
}

// A namespace goes with what is in it here, and takes nothing new meanwhile.
func TestNamespaceDeletion(t *testing.T) {
	c := newCluster(t)
	c.menu()
	c.Kubectl("patch", "pizza", "margherita", "--type=merge", "-p", `{"metadata":{"finalizers":["example.com/wait"]}}`)
	c.Kubectl("delete", "namespace", c.Namespace, "--wait=false")
	c.shows("Terminating", "get", "namespace", c.Namespace)
	if got := c.KubectlFails("create", "-f", "testdata/funghi.yaml"); !strings.Contains(got, "being terminated") {
		t.Errorf("a pizza in a namespace that goes: %s", got)
	}
	c.Eventually("the deletion of the pizza", func() error {
		pizza, err := c.Resource(pizzas).Namespace(c.Namespace).Get(t.Context(), "margherita", metav1.GetOptions{})
		if err == nil && pizza.GetDeletionTimestamp() == nil {
			err = fmt.Errorf("it is not being deleted")
		}
		return err
	})
	c.Kubectl("patch", "pizza", "margherita", "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
	c.goes(c.Resource(corev1Namespaces), c.Namespace)
}

// Through the API server everybody is who they are, and a role is needed. Past it nobody is
// anybody, not even the administrator.
func TestWhoAsks(t *testing.T) {
	c := newCluster(t)
	c.menu()
	as := func(change func(*rest.Config)) dynamic.Interface {
		config := rest.CopyConfig(c.Config)
		change(config)
		return dynamic.NewForConfigOrDie(config)
	}
	alice := as(func(config *rest.Config) { config.Impersonate.UserName = "alice" })
	if _, err := alice.Resource(toppings).List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("without a role: %v, want 403", err)
	}
	forger := as(func(config *rest.Config) {
		config.Impersonate.UserName = "alice"
		config.Wrap(forge)
	})
	if _, err := forger.Resource(toppings).List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("with forged headers: %v, want 403", err)
	}
	c.Kubectl("create", "clusterrole", c.Namespace, "--verb=get,list", "--resource=toppings."+group)
	c.Kubectl("create", "clusterrolebinding", c.Namespace, "--clusterrole="+c.Namespace, "--user=alice")
	t.Cleanup(func() { c.Kubectl("delete", "clusterrole,clusterrolebinding", c.Namespace) })
	c.Eventually("with a role", func() error {
		_, err := alice.Resource(toppings).List(t.Context(), metav1.ListOptions{})
		return err
	})
	if err := alice.Resource(toppings).Delete(t.Context(), "salami", metav1.DeleteOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("to delete with a role to read: %v, want 403", err)
	}
	direct := as(func(config *rest.Config) {
		config.Host = "https://" + c.address()
		config.CAData, config.CAFile, config.Insecure = nil, "", true
		config.Wrap(forge)
	})
	if _, err := direct.Resource(toppings).List(t.Context(), metav1.ListOptions{}); !apierrors.IsUnauthorized(err) {
		t.Errorf("a direct call with the administrator's certificate: %v, want 401", err)
	}
}
