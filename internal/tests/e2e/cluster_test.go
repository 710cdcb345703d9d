//go:build integration || bare

package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/clientset"
	"example.com/byhand/internal/run/subprocess"
	"example.com/byhand/kit/testkit"
)

// deadline is how long a test waits for a condition. It is long, because the machine may be busy.
const deadline = 3 * time.Minute

// binary is the program under test, built from this checkout.
const binary = root + "/bin/byhand"

func TestMain(m *testing.M) {
	build := exec.Command("go", "build", "-o", binary, root)
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "build the program under test:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// server is the API server that KUBECONFIG names, with a separate namespace for
// the test.
type server struct {
	*testing.T
	config    *rest.Config
	kube      kubernetes.Interface
	client    clientset.Interface
	namespace string
}

func newServer(t *testing.T) *server {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		t.Fatalf("these tests need a cluster, see `make test`: %v", err)
	}
	config.QPS = -1
	s := &server{T: t, config: config, kube: kubernetes.NewForConfigOrDie(config), client: clientset.NewForConfigOrDie(config)}
	namespace, err := s.kube.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s.namespace = namespace.Name
	t.Cleanup(func() {
		if err := s.kube.CoreV1().Namespaces().Delete(context.Background(), s.namespace, metav1.DeleteOptions{}); err != nil {
			t.Errorf("clean up: %v", err)
		}
	})
	return s
}

// eventually waits until condition returns nil. At the deadline it fails the test
// with condition's last error.
func (s *server) eventually(what string, condition func() error) {
	s.Helper()
	var err error
	for end := time.Now().Add(deadline); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if err = condition(); err == nil {
			return
		}
	}
	s.Fatalf("%s: %v", what, err)
}

type program = subprocess.Program

// start runs the program. It is killed when the test ends, if it still runs.
func start(t *testing.T, env []string, args ...string) *program {
	t.Helper()
	cmd := exec.Command(binary, args...)
	cmd.Env = append(os.Environ(), env...)
	return subprocess.Run(t, cmd, deadline)
}

// controller starts the program in the test's namespace, and returns when its workers run.
func (s *server) controller(args ...string) *program {
	s.Helper()
	p := start(s.T, nil, append([]string{"--namespace", s.namespace}, args...)...)
	p.WaitFor("workers start")
	return p
}

func (s *server) createFoo(name string, spec v1alpha1.FooSpec) *v1alpha1.Foo {
	s.Helper()
	foo, err := s.client.SamplecontrollerV1alpha1().Foos(s.namespace).Create(s.Context(),
		&v1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec}, metav1.CreateOptions{})
	if err != nil {
		s.Fatal(err)
	}
	return foo
}

func (s *server) changeFoo(name, patch string) {
	s.Helper()
	_, err := s.client.SamplecontrollerV1alpha1().Foos(s.namespace).Patch(s.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil {
		s.Fatal(err)
	}
}

func (s *server) kubectl(args ...string) string {
	s.Helper()
	output, err := command("kubectl", args...)
	if err != nil {
		s.Fatal(err)
	}
	return output
}

const root = "../../.."

// command runs a command in the root folder and returns its output. It has no context, so a clean-up may use it.
func command(name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = root
	output, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, output)
	}
	return string(output), err
}

// waitFor waits, as kubectl wait does, until a condition of an object holds.
func (s *server) waitFor(condition, object string) {
	s.Helper()
	s.kubectl("wait", "--namespace", s.namespace, "--timeout", deadline.String(), "--for="+condition, object)
}

func spec(deploymentName string, replicas int32) v1alpha1.FooSpec {
	return v1alpha1.FooSpec{DeploymentName: deploymentName, Replicas: &replicas}
}

// proxied starts a proxy with the credentials of config, and returns the kubeconfig that leads through it.
func (s *server) proxied(config *rest.Config) (proxy *testkit.Proxy, kubeconfig string) {
	s.Helper()
	proxy, err := testkit.NewProxy(config)
	if err == nil {
		s.Cleanup(func() { _ = proxy.Close() })
		kubeconfig, err = proxy.Kubeconfig(s.TempDir())
	}
	if err != nil {
		s.Fatal(err)
	}
	return proxy, kubeconfig
}
