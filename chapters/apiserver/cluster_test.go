//go:build integration

package main

import (
	"bufio"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
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
	runs    bool
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{Cluster: chaptertest.New(t), store: filepath.Join(t.TempDir(), "store")}
	c.Interface = dynamic.NewForConfigOrDie(c.Config)
	c.run()
	return c
}

// run starts the program, on the same journal each time. It is stopped when the test ends, if
// it runs then: a registration that is left would stop the deletion of all namespaces.
func (c *cluster) run(args ...string) {
	c.Helper()
	c.program = c.Start(append([]string{"--kubeconfig", c.Kubeconfig, "--store", c.store}, args...)...)
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
	c.program.Signal(syscall.SIGTERM)
	if code := c.program.Exit(); code != 0 {
		c.Errorf("exit code %d, want 0", code)
	}
}

func (c *cluster) kill() {
	c.runs = false
	c.program.Kill()
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

var configMapResource, namespaceResource = corev1.SchemeGroupVersion.WithResource("configmaps"), corev1.SchemeGroupVersion.WithResource("namespaces")

// forge adds headers that only the front proxy may send.
func forge(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		r = r.Clone(r.Context())
		r.Header.Set("X-Remote-User", "system:admin")
		r.Header.Set("X-Remote-Group", "system:masters")
		return next.RoundTrip(r)
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// menu creates the toppings and a pizza.
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
		"Kubectl": testKubectl, "Refused": testRefused, "Edit": testEdit, "KubectlWatch": testKubectlWatch, "Quota": testQuota,
		"GarbageCollection": testGarbageCollection, "NamespaceDeletion": testNamespaceDeletion, "WhoAsks": testWhoAsks,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			own := &cluster{Cluster: chaptertest.New(t), Interface: c.Interface, program: c.program}
			own.menu()
			test(own)
		})
	}
}

// Everything that kubectl does with a kind of Kubernetes it does with these.
func testKubectl(c *cluster) {
	for _, step := range []struct {
		want string
		args []string
	}{
		{"pizzas", []string{"api-resources", "--api-group", group}},
		{"unchanged", []string{"apply", "-f", "config/samples"}},
		{"tomato, mozzarella, mozzarella", []string{"get", "pizza"}},
		{"tomato, mozzarella, mozzarella", []string{"get", "pz", "-A"}},
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
	} {
		if step.args[0] == "explain" {
			// The API server learns of new documents within a minute.
			c.Eventually("explain", func() error {
				_, err := c.RESTClient("openapi/v3/apis/" + hub.String())
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
func testRefused(c *cluster) {
	for _, step := range []struct {
		want string
		args []string
	}{
		{"it is in use", []string{"delete", "topping", "tomato"}},
		{`unknown field "spec.size"`, []string{"create", "-f", "testdata/unknown-field.yaml"}},
		{"NotFound", []string{"get", "pizza", "none"}},
	} {
		if got := c.KubectlFails(step.args...); !strings.Contains(got, step.want) {
			c.Errorf("kubectl %s: want %q, got\n%s", strings.Join(step.args, " "), step.want, got)
		}
	}
}

// kubectl edit sends a patch, made from what an editor changes.
func testEdit(c *cluster) {
	edit := exec.Command("kubectl", "-n", c.Namespace, "edit", "pizzas.v1beta1."+group, "margherita")
	edit.Env = append(os.Environ(), `KUBE_EDITOR=sed -i "s/quantity: 2/quantity: 3/"`)
	if output, err := edit.CombinedOutput(); err != nil || !strings.Contains(string(output), "edited") {
		c.Errorf("kubectl edit: %v\n%s", err, output)
	}
	c.shows("3", "get", "pizzas.v1beta1."+group, "margherita", "-o", "jsonpath={.spec.toppings[1].quantity}")
}

// kubectl get -w prints what happens, as a Table.
func testKubectlWatch(c *cluster) {
	watch := exec.CommandContext(c.Context(), "kubectl", "-n", c.Namespace, "get", "pizzas", "--watch", "--output-watch-events")
	output, err := watch.StdoutPipe()
	if err != nil {
		c.Fatal(err)
	}
	if err := watch.Start(); err != nil {
		c.Fatal(err)
	}
	c.Cleanup(func() { _ = watch.Process.Kill(); _ = watch.Wait() })
	lines := bufio.NewScanner(output)
	next := func(want string) {
		c.Helper()
		if !lines.Scan() || !regexp.MustCompile(want).MatchString(lines.Text()) {
			c.Errorf("kubectl prints %q, want %s (%v)", lines.Text(), want, lines.Err())
		}
	}
	next("EVENT +NAME +TOPPINGS +AGE")
	next("ADDED +margherita +tomato, mozzarella, mozzarella")
	c.Kubectl("create", "-f", "testdata/funghi.yaml")
	next("ADDED +funghi +tomato")
	c.Kubectl("patch", "pizza", "funghi", "--type=merge", "-p", `{"spec":{"toppings":[{"name":"salami","quantity":1}]}}`)
	next("MODIFIED +funghi +salami")
	c.Kubectl("delete", "pizza", "funghi")
	next("DELETED +funghi +salami")
}

// Admission does not run for what the API server passes on. A quota of 0 refuses each
// ConfigMap, and no Pizza.
func testQuota(c *cluster) {
	c.Kubectl("create", "quota", "none", "--hard=count/configmaps=0,count/pizzas."+group+"=0")
	c.Eventually("the quota", func() error {
		err := exec.Command("kubectl", "-n", c.Namespace, "create", "configmap", "a").Run()
		if err == nil {
			c.Kubectl("delete", "configmap", "a")
			return errors.New("a ConfigMap was created")
		}
		return nil
	})
	c.Kubectl("create", "-f", "testdata/funghi.yaml")
}

// The garbage collector follows owner references into this group and out of it.
func testGarbageCollection(c *cluster) {
	configMaps := c.Resource(configMapResource).Namespace(c.Namespace)
	pizzas := c.Resource(pizzaResource).Namespace(c.Namespace)
	newObject := func(kind, apiVersion, name string, owner *unstructured.Unstructured) *unstructured.Unstructured {
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind}}
		o.SetName(name)
		if owner != nil {
			o.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: owner.GetAPIVersion(), Kind: owner.GetKind(), Name: owner.GetName(), UID: owner.GetUID(), BlockOwnerDeletion: new(true)}})
		}
		return o
	}
	create := func(resource dynamic.ResourceInterface, o *unstructured.Unstructured) *unstructured.Unstructured {
		c.Helper()
		created, err := resource.Create(c.Context(), o, metav1.CreateOptions{})
		if err != nil {
			c.Fatal(err)
		}
		return created
	}
	remove := func(resource dynamic.ResourceInterface, name string, policy metav1.DeletionPropagation) {
		c.Helper()
		if err := resource.Delete(c.Context(), name, metav1.DeleteOptions{PropagationPolicy: &policy}); err != nil {
			c.Fatal(err)
		}
	}
	for i, policy := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground} {
		in, out := fmt.Sprintf("in-%d", i), fmt.Sprintf("out-%d", i)
		create(pizzas, newObject("Pizza", hub.String(), in, create(configMaps, newObject("ConfigMap", "v1", in, nil))))
		remove(configMaps, in, policy)
		c.goes(pizzas, in)
		c.goes(configMaps, in)
		create(configMaps, newObject("ConfigMap", "v1", out, create(pizzas, newObject("Pizza", hub.String(), out, nil))))
		remove(pizzas, out, policy)
		c.goes(configMaps, out)
		c.goes(pizzas, out)
	}
	owner := create(pizzas, newObject("Pizza", hub.String(), "orphans", nil))
	create(configMaps, newObject("ConfigMap", "v1", "orphan", owner))
	remove(pizzas, "orphans", metav1.DeletePropagationOrphan)
	c.goes(pizzas, "orphans")
	if orphan, err := configMaps.Get(c.Context(), "orphan", metav1.GetOptions{}); err != nil || len(orphan.GetOwnerReferences()) > 0 {
		c.Errorf("the orphan: %v, %v", orphan, err)
	}
}

// A namespace goes with what is in it here, and takes nothing new meanwhile.
func testNamespaceDeletion(c *cluster) {
	c.Kubectl("patch", "pizza", "margherita", "--type=merge", "-p", `{"metadata":{"finalizers":["example.com/wait"]}}`)
	c.Kubectl("delete", "namespace", c.Namespace, "--wait=false")
	c.shows("Terminating", "get", "namespace", c.Namespace)
	if got := c.KubectlFails("create", "-f", "testdata/funghi.yaml"); !strings.Contains(got, "being terminated") {
		c.Errorf("a pizza in a namespace that goes: %s", got)
	}
	c.Eventually("the deletion of the pizza", func() error {
		pizza, err := c.Resource(pizzaResource).Namespace(c.Namespace).Get(c.Context(), "margherita", metav1.GetOptions{})
		if err == nil && pizza.GetDeletionTimestamp() == nil {
			err = fmt.Errorf("it is not being deleted")
		}
		return err
	})
	c.Kubectl("patch", "pizza", "margherita", "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
	c.goes(c.Resource(namespaceResource), c.Namespace)
}

// Through the API server everybody is who they are, and a role is needed. Past it nobody is
// anybody, not even the administrator.
func testWhoAsks(c *cluster) {
	as := func(change func(*rest.Config)) dynamic.Interface {
		config := rest.CopyConfig(c.Config)
		change(config)
		return dynamic.NewForConfigOrDie(config)
	}
	alice := as(func(config *rest.Config) { config.Impersonate.UserName = "alice" })
	if _, err := alice.Resource(toppingResource).List(c.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		c.Errorf("without a role: %v, want 403", err)
	}
	forger := as(func(config *rest.Config) {
		config.Impersonate.UserName = "alice"
		config.Wrap(forge)
	})
	if _, err := forger.Resource(toppingResource).List(c.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		c.Errorf("with forged headers: %v, want 403", err)
	}
	c.Kubectl("create", "clusterrole", c.Namespace, "--verb=get,list", "--resource=toppings."+group)
	c.Kubectl("create", "clusterrolebinding", c.Namespace, "--clusterrole="+c.Namespace, "--user=alice")
	one := c.Namespace + "-one"
	c.Kubectl("create", "clusterrole", one, "--verb=list,watch", "--resource=toppings."+group, "--resource-name=salami")
	c.Kubectl("create", "clusterrolebinding", one, "--clusterrole="+one, "--user=bob")
	c.Cleanup(func() { c.Kubectl("delete", "clusterrole,clusterrolebinding", c.Namespace, one) })
	c.Eventually("with a role", func() error {
		_, err := alice.Resource(toppingResource).List(c.Context(), metav1.ListOptions{})
		return err
	})
	if err := alice.Resource(toppingResource).Delete(c.Context(), "salami", metav1.DeleteOptions{}); !apierrors.IsForbidden(err) {
		c.Errorf("to delete with a role to read: %v, want 403", err)
	}
	bob := as(func(config *rest.Config) { config.Impersonate.UserName = "bob" })
	c.Eventually("with a role for one name", func() error {
		_, err := bob.Resource(toppingResource).List(c.Context(), metav1.ListOptions{FieldSelector: "metadata.name=salami"})
		return err
	})
	if _, err := bob.Resource(toppingResource).List(c.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		c.Errorf("all, with a role for one name: %v, want 403", err)
	}
	direct := as(func(config *rest.Config) {
		config.Host = "https://" + c.address()
		config.CAData, config.CAFile, config.Insecure = nil, "", true
		config.Wrap(forge)
	})
	if _, err := direct.Resource(toppingResource).List(c.Context(), metav1.ListOptions{}); !apierrors.IsUnauthorized(err) {
		c.Errorf("a direct call with the administrator's certificate: %v, want 401", err)
	}
}
