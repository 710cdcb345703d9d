//go:build integration

package compare

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	officialv1alpha1 "k8s.io/sample-controller/pkg/apis/samplecontroller/v1alpha1"
	official "k8s.io/sample-controller/pkg/generated/clientset/versioned"
	"sigs.k8s.io/yaml"

	"example.com/byhand/clientset"
	"example.com/byhand/internal/run/subprocess"
)

const deadline = time.Minute

// newNamespace returns the cluster of KUBECONFIG and a namespace for one test.
func newNamespace(t *testing.T) (config *rest.Config, namespace string) {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		t.Fatalf("these tests need a cluster, see `make test`: %v", err)
	}
	namespaces := kubernetes.NewForConfigOrDie(config).CoreV1().Namespaces()
	created, err := namespaces.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "compare-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := namespaces.Delete(context.Background(), created.Name, metav1.DeleteOptions{}); err != nil {
			t.Errorf("clean up: %v", err)
		}
	})
	return config, created.Name
}

// officialExample returns the example Foo of sample-controller's documentation, from that module.
func officialExample(t *testing.T) *officialv1alpha1.Foo {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/sample-controller").Output()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(string(dir[:len(dir)-1]), "artifacts", "examples", "example-foo.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	foo := &officialv1alpha1.Foo{}
	if err := yaml.UnmarshalStrict(text, foo); err != nil {
		t.Fatal(err)
	}
	return foo
}

// TestOfficialExampleOnOurController: the official generated client creates the official example on
// our CRD, our controller reconciles it, and the official client sees the result.
func TestOfficialExampleOnOurController(t *testing.T) {
	config, namespace := newNamespace(t)
	startController(t, namespace)
	foos := official.NewForConfigOrDie(config).SamplecontrollerV1alpha1().Foos(namespace)
	example := officialExample(t)
	if _, err := foos.Create(t.Context(), example, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict}); err != nil {
		t.Fatal(err)
	}
	available := func(want int32) {
		t.Helper()
		var err error
		for end := time.Now().Add(deadline); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			var foo *officialv1alpha1.Foo
			if foo, err = foos.Get(t.Context(), example.Name, metav1.GetOptions{}); err == nil && foo.Status.AvailableReplicas == want {
				return
			} else if err == nil {
				err = fmt.Errorf("availableReplicas is %d", foo.Status.AvailableReplicas)
			}
		}
		t.Fatalf("the official client waits for %d available replicas: %v", want, err)
	}
	available(1)

	// Scale the Foo: the update comes from a client with fewer status fields than ours.
	foo, err := foos.Get(t.Context(), example.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	*foo.Spec.Replicas = 2
	if _, err := foos.Update(t.Context(), foo, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	available(2)
	ours, err := clientset.NewForConfigOrDie(config).SamplecontrollerV1alpha1().Foos(namespace).Get(t.Context(), example.Name, metav1.GetOptions{})
	if err != nil || len(ours.Status.Conditions) == 0 {
		t.Errorf("status %+v (%v), want the conditions that the official type lacks", ours.Status, err)
	}
}

// startController builds and runs our controller until the test ends.
func startController(t *testing.T, namespace string) {
	t.Helper()
	// make builds the program at this path, too: an up-to-date program is not linked again.
	binary := filepath.Join("..", "..", "bin", "byhand")
	build := exec.Command("go", "build", "-o", filepath.Join("bin", "byhand"), ".")
	build.Dir = "../.."
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the controller: %v\n%s", err, output)
	}
	p := subprocess.Run(t, exec.Command(binary, "--namespace", namespace), deadline)
	t.Cleanup(p.Stop)
}
