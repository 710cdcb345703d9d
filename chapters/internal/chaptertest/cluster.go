// Package chaptertest runs the program of a chapter on the API server that $KUBECONFIG
// names, for the tests of that chapter.
package chaptertest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
)

// deadline is how long a test waits for what must happen.
const deadline = 60 * time.Second

// binary is the chapter's program.
var binary string

// Run is for TestMain: it builds the program of this folder, installs its CRDs, and runs
// the tests.
func Run(m *testing.M) (exitCode int) {
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
	commands := [][]string{{"go", "build", "-o", binary, "."}}
	if _, err := os.Stat("config/crd"); err == nil {
		commands = append(commands, []string{"kubectl", "apply", "-f", "config/crd"},
			[]string{"kubectl", "wait", "--for=condition=Established", "--timeout=30s", "-f", "config/crd"})
	}
	for _, command := range commands {
		if output, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n%s", strings.Join(command, " "), err, output)
			return 1
		}
	}
	return m.Run()
}

// held are the CRDs of this folder. A file that nobody refers to would be closed.
var held []*os.File

// hold locks the CRDs of this folder until the process ends. Two chapters may have one CRD,
// by a symbolic link: then their tests, which change it, run one after the other.
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

// Cluster is the API server, and a namespace that is the test's own.
type Cluster struct {
	*testing.T
	Config *rest.Config
	Kube   kubernetes.Interface
	// Namespace is removed when the test ends.
	Namespace string
	// Kubeconfig is the file that Config was read from.
	Kubeconfig string
}

// New makes a namespace.
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

// Eventually waits until condition returns nil. If that does not happen, the test fails
// with its last error.
func (c *Cluster) Eventually(what string, condition func() error) {
	c.Helper()
	var err error
	for end := time.Now().Add(deadline); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if err = condition(); err == nil {
			return
		}
	}
	c.Fatalf("%s: %v", what, err)
}

// Kubectl runs kubectl in the test's namespace and returns what it prints.
func (c *Cluster) Kubectl(args ...string) string {
	c.Helper()
	output, err := c.kubectl("", args...)
	if err != nil {
		c.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, output)
	}
	return output
}

// KubectlFails runs kubectl, which must fail, and returns what it prints.
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

func (c *Cluster) kubectl(stdin string, args ...string) (string, error) {
	// The clean-up of a test runs it, too, so it is not bound to the test's context.
	run := exec.Command("kubectl", append([]string{"--namespace", c.Namespace}, args...)...)
	run.Stdin = strings.NewReader(stdin)
	output, err := run.CombinedOutput()
	return string(output), err
}

// Commands returns the lines of the sh blocks below a heading of the chapter's README,
// without their comments. The lines that set the environment are left out.
func Commands(t *testing.T, heading string) (commands []string) {
	t.Helper()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "\n## "+heading+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	if !found {
		t.Fatalf("README.md has no heading %q", heading)
	}
	inBlock := false
	for line := range strings.Lines(section) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "```"):
			inBlock = line == "```sh"
		case inBlock && line != "" && !strings.HasPrefix(line, "export "):
			line, _, _ = strings.Cut(line, "  #")
			commands = append(commands, strings.TrimSpace(line))
		}
	}
	if len(commands) == 0 {
		t.Fatalf("README.md has no command below %q", heading)
	}
	return commands
}
