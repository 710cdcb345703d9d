//go:build page && integration

package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/clientset"
	"example.com/byhand/internal/testkit"
	"example.com/byhand/internal/testkit/subprocess"
)

// cluster is the API server that KUBECONFIG names, a namespace of the test's own,
// and a kubeconfig whose server stands in between.
type cluster struct {
	*testing.T
	kube       kubernetes.Interface
	client     clientset.Interface
	namespace  string
	kubeconfig string
	// meddle says that somebody else changes the next Deployment which the program is
	// about to change, an instant before.
	meddle atomic.Bool
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		t.Fatalf("this test needs a cluster, see make test-page: %v", err)
	}
	c := &cluster{T: t, kube: kubernetes.NewForConfigOrDie(config), client: clientset.NewForConfigOrDie(config)}
	namespace, err := c.kube.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "page-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c.namespace = namespace.Name
	t.Cleanup(func() {
		if err := c.kube.CoreV1().Namespaces().Delete(context.Background(), c.namespace, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	c.between(config)
	return c
}

// between puts a proxy before the API server, and writes its kubeconfig.
func (c *cluster) between(config *rest.Config) {
	c.Helper()
	proxy, err := testkit.NewProxy(config)
	if err != nil {
		c.Fatal(err)
	}
	c.Cleanup(func() { _ = proxy.Close() })
	proxy.Intercept(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/deployments/") && c.meddle.CompareAndSwap(true, false) {
			patch := []byte(`{"metadata":{"annotations":{"somebody":"else"}}}`)
			if _, err := c.kube.AppsV1().Deployments(c.namespace).Patch(r.Context(), filepath.Base(r.URL.Path), types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
				c.Error(err)
			}
		}
		return false
	})
	if c.kubeconfig, err = proxy.Kubeconfig(c.TempDir()); err != nil {
		c.Fatal(err)
	}
}

// patch changes the Foo as kubectl patch does.
func (c *cluster) patch(name string, spec map[string]any) {
	c.Helper()
	data, err := json.Marshal(map[string]any{"spec": spec})
	if err != nil {
		c.Fatal(err)
	}
	if _, err := c.client.SamplecontrollerV1alpha1().Foos(c.namespace).Patch(c.Context(), name, types.MergePatchType, data, metav1.PatchOptions{}); err != nil {
		c.Fatal(err)
	}
}

// program runs the real program until stop, and returns the page's address.
func (c *cluster) program(binary, listen string) (at string, stop func()) {
	c.Helper()
	p := subprocess.Run(c.T, exec.Command(binary, "--kubeconfig", c.kubeconfig, "--namespace", c.namespace, "--page", listen), *patience)
	stop = sync.OnceFunc(p.Stop)
	c.Cleanup(stop)
	const address = `\bpage\b.*?(http://127\.0\.0\.1:\d+/)`
	p.Prints(1, address)
	return regexp.MustCompile(address).FindStringSubmatch(p.Output())[1], stop
}

// became waits for the history of the chosen object to say so.
func (b *tab) became(pattern string) {
	b.Helper()
	b.until(fmt.Sprintf("[...document.querySelectorAll('#panel .badge')].some((e) => new RegExp(%q).test(e.textContent))", pattern))
}

// TestRealProgram watches the real controller at work on the real API server.
func TestRealProgram(t *testing.T) {
	const markup = `<img src=x onerror="document.title='broken'">`
	binary := filepath.Join(t.TempDir(), "byhand")
	build := exec.Command("go", "build", "-o", binary, "example.com/byhand")
	build.Dir, build.Stderr = "..", os.Stderr
	if err := build.Run(); err != nil {
		t.Fatal(err)
	}
	c := newCluster(t)
	at, stop := c.program(binary, "127.0.0.1:0")
	b := open(t, at, laptop)
	b.sees("#state", "live")

	one := int32(1)
	foo := &v1alpha1.Foo{
		ObjectMeta: metav1.ObjectMeta{Name: "seen", Annotations: map[string]string{"samplecontroller.k8s.io/note": markup}},
		Spec:       v1alpha1.FooSpec{DeploymentName: "seen", Replicas: &one},
	}
	if _, err := c.client.SamplecontrollerV1alpha1().Foos(c.namespace).Create(t.Context(), foo, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	b.travels("POST")
	b.shot("1-created")
	b.click(fmt.Sprintf(`#objects-table button[data-subject="Foo %s/seen"]`, c.namespace))
	b.became("available 0 → 1")
	b.sees("#panel .wire", "POST /apis/apps/v1/namespaces/"+c.namespace+"/deployments")
	b.sees("#panel .badge", "echo of its own write")
	b.sees("#panel details pre", "onerror")
	b.sees("#caption", "Quiet.")
	b.shot("2-quiet")

	b.forget()
	c.patch("seen", map[string]any{"replicas": 3})
	b.became("scaled 1 → 3")
	b.travels("PUT")
	b.shot("3-scaled")
	b.became(`available \d → 3`)

	b.sees("#caption", "Quiet.")
	b.forget()
	c.meddle.Store(true)
	c.patch("seen", map[string]any{"replicas": 2})
	b.became("409 Conflict")
	b.travels("409")
	b.shot("4-conflict")
	b.became("scaled 3 → 2")
	// The deployment controller writes the Deployment, too, and may cause one more.
	b.sees(".part-request .part-number", " conflict")

	b.sees("#caption", "Quiet.")
	b.forget()
	c.patch("seen", map[string]any{"deploymentName": "renamed"})
	b.became("renamed seen → renamed")
	b.travels("DELETE")
	b.shot("5-renamed")
	b.sees("#objects-table", c.namespace+"/renamed")

	b.sees("#caption", "Quiet.")
	if err := c.client.SamplecontrollerV1alpha1().Foos(c.namespace).Delete(t.Context(), "seen", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	b.became("deleted")
	b.shot("6-deleted")

	stop()
	b.sees("#notices", "does not answer")
	c.program(binary, strings.TrimSuffix(strings.TrimPrefix(at, "http://"), "/"))
	b.sees("#notices", "The program was restarted")
	b.sees("#state", "live")
	b.shot("7-restarted")
	b.forgive("net::ERR_CONNECTION_REFUSED", "net::ERR_INCOMPLETE_CHUNKED_ENCODING", "net::ERR_EMPTY_RESPONSE", "net::ERR_CONNECTION_RESET")
	if title := value[string](b, `document.title`); !strings.HasPrefix(title, "byhand") {
		t.Errorf("the title is %q: an annotation was run", title)
	}
}
