// Package chaptertest is for the chapters' tests: it runs a chapter's program on the API server of
// $KUBECONFIG.
package chaptertest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/byhand/internal/tests/readme"
)

// Deadline is how long a test waits for a condition.
const Deadline = 60 * time.Second

var binary string

// CoreCRDs is the command that installs the core's CRDs, for chapters that use its kinds.
const CoreCRDs = "kubectl apply -f ../../config/crd && kubectl wait --for=condition=Established --timeout=30s -f ../../config/crd"

// Run is for TestMain: it runs these commands in a shell, builds this folder's program, installs its
// CRDs, and runs the tests.
func Run(m *testing.M, commands ...string) (exitCode int) {
	dir, err := os.MkdirTemp("", "chapter-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if err := hold(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	binary = filepath.Join(dir, "chapter")
	// Without debug information it links faster.
	commands = append(commands, "go build -ldflags=-w -o "+binary+" .")
	if _, err := os.Stat("config/crd"); err == nil {
		commands = append(commands, strings.ReplaceAll(CoreCRDs, "../../", ""))
	}
	for _, command := range commands {
		if output, err := exec.Command("sh", "-c", command).CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n%s", command, err, output)
			return 1
		}
	}
	return m.Run()
}

// held has the locked CRD files. A file without a reference would be closed.
var held []*os.File

// hold locks this folder's CRDs until the process ends. Two chapters may share a CRD by a symbolic
// link: then their tests, which change the CRD, run one after the other.
func hold() error {
	files, err := filepath.Glob("config/crd/*.yaml")
	if err != nil {
		return err
	}
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			return err
		}
		held = append(held, file)
		if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
			return fmt.Errorf("lock %s: %w", name, err)
		}
	}
	return nil
}

// Cluster is the API server, and the test's own namespace.
type Cluster struct {
	*testing.T
	Config *rest.Config
	Kube   kubernetes.Interface
	// Namespace is removed when the test ends.
	Namespace string
	// Kubeconfig is the file that Config was read from.
	Kubeconfig string
}

// New creates a namespace.
func New(t *testing.T) *Cluster {
	t.Helper()
	c := &Cluster{T: t, Kubeconfig: os.Getenv("KUBECONFIG")}
	var err error
	if c.Config, err = clientcmd.BuildConfigFromFlags("", c.Kubeconfig); err != nil {
		t.Fatalf("these tests need a cluster, see `make test`: %v", err)
	}
	c.Config.QPS = -1
	c.Kube = kubernetes.NewForConfigOrDie(c.Config)
	namespace, err := c.Kube.CoreV1().Namespaces().Create(t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "chapter-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c.Namespace = namespace.Name
	t.Cleanup(func() {
		err := c.Kube.CoreV1().Namespaces().Delete(context.Background(), c.Namespace, metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			t.Errorf("clean up: %v", err)
		}
	})
	return c
}

// Eventually waits until condition returns nil. At the deadline the test fails with condition's last error.
func (c *Cluster) Eventually(what string, condition func() error) {
	c.Helper()
	var err error
	for end := time.Now().Add(Deadline); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if err = condition(); err == nil {
			return
		}
	}
	c.Fatalf("%s: %v", what, err)
}

// Kubectl runs kubectl in the test's namespace and returns its output.
func (c *Cluster) Kubectl(args ...string) string {
	c.Helper()
	output, err := c.kubectl("", args...)
	if err != nil {
		c.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, output)
	}
	return output
}

// KubectlFails runs kubectl, which must fail, and returns its output.
func (c *Cluster) KubectlFails(args ...string) string {
	c.Helper()
	output, err := c.kubectl("", args...)
	if err == nil {
		c.Fatalf("kubectl %s succeeds:\n%s", strings.Join(args, " "), output)
	}
	return output
}

// Apply applies YAML in the test's namespace.
func (c *Cluster) Apply(yaml string) {
	c.Helper()
	if output, err := c.kubectl(yaml, "apply", "-f", "-"); err != nil {
		c.Fatalf("kubectl apply: %v\n%s\n%s", err, output, yaml)
	}
}

// Shell runs a command in the chapter's folder, and returns its output.
func (c *Cluster) Shell(command string) string {
	c.Helper()
	output, err := exec.Command("sh", "-c", command).CombinedOutput()
	if err != nil {
		c.Fatalf("%s: %v\n%s", command, err, output)
	}
	return string(output)
}

func (c *Cluster) kubectl(stdin string, args ...string) (string, error) {
	// A test's clean-up runs it, too, so it does not use the test's context.
	run := exec.Command("kubectl", append([]string{"--namespace", c.Namespace}, args...)...)
	run.Stdin = strings.NewReader(stdin)
	output, err := run.CombinedOutput()
	return string(output), err
}

// Readme opens the commands of the chapter's README. They run in the repository's root folder with this
// kubeconfig. Each command is retried until it prints the expected text.
func (c *Cluster) Readme(kubeconfig string) *readme.Script {
	c.Helper()
	script := readme.Open(c.T, "README.md", "Try it")
	text, _ := os.ReadFile("README.md")
	if !strings.Contains(string(text), "\nexport KUBECONFIG=$PWD/bin/byhand.kubeconfig ") {
		c.Error("the commands of the README would go to the reader's own cluster")
	}
	for _, found := range regexp.MustCompile(`(?m)^kubectl (?:create [a-z]+ (\w\S*)|delete .*--all\b).*`).FindAllSubmatch(text, -1) {
		if !strings.HasPrefix(string(found[1]), "byhand-") {
			c.Errorf("a reader's own cluster may have an object of that name: begin the name with byhand-: %s", found[0])
		}
	}
	script.Dir, script.Env, script.Patience = "../..", []string{"KUBECONFIG=" + kubeconfig}, Deadline
	return script
}
