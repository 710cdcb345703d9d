//go:build page && integration

package browser

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/clientset"
	"example.com/byhand/internal/testkit/subprocess"
)

// program runs the real program in a namespace of the test's own on the cluster that
// KUBECONFIG names, and returns the page's address and a client of the Foos there.
func program(t *testing.T) (at string, foos clientset.FooInterface) {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		t.Fatalf("this test needs a cluster, see make test-page: %v", err)
	}
	namespaces := kubernetes.NewForConfigOrDie(config).CoreV1().Namespaces()
	namespace, err := namespaces.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "page-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = namespaces.Delete(context.Background(), namespace.Name, metav1.DeleteOptions{}) })
	binary := t.TempDir() + "/byhand"
	build := exec.Command("go", "build", "-o", binary, ".")
	build.Dir = ".."
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	p := subprocess.Run(t, exec.Command(binary, "--namespace", namespace.Name, "--page", "127.0.0.1:0"), *patience)
	t.Cleanup(p.Stop)
	const address = `\bpage\b.*?(http://127\.0\.0\.1:\d+/)`
	p.Prints(1, address)
	return regexp.MustCompile(address).FindStringSubmatch(p.Output())[1], clientset.NewForConfigOrDie(config).SamplecontrollerV1alpha1().Foos(namespace.Name)
}

// TestRealProgram watches the real controller at work on the real API server: what its steps
// say is what the page understands. What the page makes of each step the other tests show.
func TestRealProgram(t *testing.T) {
	at, foos := program(t)
	b := open(t, at, laptop)
	b.sees("#state", "live")
	became := func(pattern string) {
		t.Helper()
		b.until(fmt.Sprintf("[...document.querySelectorAll('#panel .badge')].some((e) => new RegExp(%q).test(e.textContent))", pattern))
	}

	foo := &v1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{Name: "seen"}, Spec: v1alpha1.FooSpec{DeploymentName: "seen", Replicas: new(int32(1))}}
	foo, err := foos.Create(t.Context(), foo, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b.travels("POST")
	b.click(fmt.Sprintf(`#objects-table button[data-subject="Foo %s/seen"]`, foo.Namespace))
	became("available 0 → 1")
	b.sees("#panel .wire", "POST /apis/apps/v1/namespaces/"+foo.Namespace+"/deployments")
	b.sees("#panel .badge", "echo of its own write")

	if _, err := foos.Patch(t.Context(), "seen", types.MergePatchType, []byte(`{"spec":{"replicas":3,"deploymentName":"renamed"}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	became("renamed seen → renamed")
	b.travels("DELETE")
	b.sees("#objects-table", foo.Namespace+"/renamed")
	if err := foos.Delete(t.Context(), "seen", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	became("deleted")
	b.sees("#caption", "Quiet.")
	b.shot("real")
}
