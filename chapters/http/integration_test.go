//go:build integration

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"example.com/byhand/chapters/internal/chaptertest"
	"example.com/byhand/clientset"
)

// The CRD of Foos is the core's.
func TestMain(m *testing.M) {
	for _, args := range [][]string{
		{"apply", "-f", "../../config/crd"},
		{"wait", "--for=condition=Established", "--timeout=30s", "-f", "../../config/crd"},
		// Right after that the server may answer 429: its storage is initializing. kubectl
		// waits and asks again, the program does not.
		{"get", "foos", "--all-namespaces"},
	} {
		if output, err := exec.Command("kubectl", args...).CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "kubectl %s: %v\n%s", strings.Join(args, " "), err, output)
			os.Exit(1)
		}
	}
	os.Exit(chaptertest.Run(m))
}

// cluster is the API server, and a namespace of the test's own.
type cluster struct{ *chaptertest.Cluster }

// start runs the program for the test's namespace alone.
func (c cluster) start(kubeconfig string) *chaptertest.Program {
	return c.Start("--kubeconfig", kubeconfig, "--namespace", c.Namespace)
}

// converges waits until a Foo has its Deployment, and a status that says so.
func (c cluster) converges(name string) {
	c.Helper()
	foos := clientset.NewForConfigOrDie(c.Config).SamplecontrollerV1alpha1().Foos(c.Namespace)
	c.Eventually("Foo "+name, func() error {
		foo, err := foos.Get(c.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		deployment, err := c.Kube.AppsV1().Deployments(c.Namespace).Get(c.Context(), foo.Spec.DeploymentName, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if !metav1.IsControlledBy(deployment, foo) {
			return errors.New("its Deployment is not its own")
		}
		if foo.Status.ObservedDeploymentVersion == "" || foo.Status.ObservedGeneration == 0 {
			return fmt.Errorf("status %+v", foo.Status)
		}
		return nil
	})
}

// goes waits until a Deployment is gone.
func (c cluster) goes(name string) {
	c.Helper()
	c.Eventually("the Deployment goes", func() error {
		_, err := c.Kube.AppsV1().Deployments(c.Namespace).Get(c.Context(), name, metav1.GetOptions{})
		if !apierrors.IsNotFound(err) {
			return fmt.Errorf("get: %v", err)
		}
		return nil
	})
}

const foo = "apiVersion: samplecontroller.k8s.io/v1alpha1\nkind: Foo\nmetadata:\n  name: foo\nspec:\n  deploymentName: deployment\n"

// The commands of the README do what it says.
func TestReadme(t *testing.T) {
	t.Parallel()
	c := cluster{chaptertest.New(t)}
	// A kubeconfig whose namespace is the test's own.
	config, err := clientcmd.LoadFromFile(c.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.Contexts[config.CurrentContext].Namespace = c.Namespace
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		t.Fatal(err)
	}
	p := c.start(file)
	p.Prints(1, `(?m)^ready: `)

	says := func(pattern string) func(string) {
		return func(output string) {
			t.Helper()
			if !regexp.MustCompile(pattern).MatchString(output) {
				t.Errorf("want %s, got\n%s", pattern, output)
			}
		}
	}
	steps := []struct {
		command string // how the README's line begins
		holds   func(output string)
	}{
		{"kubectl apply -f config/samples/foo.yaml", func(string) {
			c.converges("example-foo")
			p.Prints(1, `(?m)^POST .*/deployments → 201 Created$`)
			p.Prints(1, `(?m)^PUT .*/foos/example-foo/status → 200 OK$`)
		}},
		{"kubectl get foo example-foo", says(`"observedDeploymentVersion":"\d+"`)},
		{"kubectl get deployment example-foo", says(`"name":"example-foo"`)},
		{"kubectl get --raw", says(`(?m)^\{"type":"ADDED",.*example-foo`)},
		{"kubectl label foo example-foo", func(string) { p.Prints(3, `(?m)^(ADDED|MODIFIED) .*/example-foo, `) }},
		{"kubectl delete foo example-foo", func(string) {
			p.Prints(1, `(?m)^DELETED .*/example-foo, `)
			c.goes("example-foo")
		}},
	}
	commands := chaptertest.Commands(t, "Try it")
	if len(commands) != len(steps) {
		t.Fatalf("README.md has %d commands, this test knows %d", len(commands), len(steps))
	}
	for i, step := range steps {
		if !strings.HasPrefix(commands[i], step.command) {
			t.Fatalf("command %d of README.md is %q, this test expects %q", i+1, commands[i], step.command)
		}
		run := exec.Command("sh", "-c", commands[i])
		run.Dir, run.Env = "../..", append(os.Environ(), "KUBECONFIG="+file)
		output, err := run.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", commands[i], err, output)
		}
		step.holds(string(output))
	}

	p.Signal(syscall.SIGTERM)
	if code := p.Exit(); code != 0 {
		t.Errorf("exit code %d after SIGTERM, want 0", code)
	}
}

// The rights in config/rbac are enough, with a token. Without them it ends
// with one line.
func TestRights(t *testing.T) {
	t.Parallel()
	c := cluster{chaptertest.New(t)}
	c.Kubectl("create", "serviceaccount", "http")
	token := strings.TrimSpace(c.Kubectl("create", "token", "http"))
	config, err := clientcmd.LoadFromFile(c.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.AuthInfos[config.Contexts[config.CurrentContext].AuthInfo] = &clientcmdapi.AuthInfo{Token: token}
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		t.Fatal(err)
	}

	p := c.start(file)
	if code := p.Exit(); code != 1 {
		t.Errorf("exit code %d without rights, want 1", code)
	}
	if lines := strings.Split(strings.TrimSpace(p.Output()), "\n"); !regexp.MustCompile(`^http: 403: .*cannot list.*: chapters/http/config/rbac`).MatchString(lines[len(lines)-1]) {
		t.Errorf("its last line is %q", lines[len(lines)-1])
	}

	c.Kubectl("apply", "-f", "config/rbac")
	t.Cleanup(func() { c.Kubectl("delete", "--ignore-not-found", "-f", "config/rbac") })
	c.Kubectl("create", "rolebinding", "http", "--clusterrole=byhand-http", "--serviceaccount="+c.Namespace+":http")
	c.Apply(foo)
	c.Eventually("the rights are there", func() error {
		output, err := exec.Command("kubectl", "auth", "can-i", "create", "deployments", "--namespace", c.Namespace,
			"--as=system:serviceaccount:"+c.Namespace+":http").CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, output)
		}
		return nil
	})
	c.start(file).Prints(1, `(?m)^ready: `)
	c.converges("foo")
}

// The two forms in which kubectl writes a kubeconfig that needs no other file.
func TestKubectlWritesKubeconfigs(t *testing.T) {
	t.Parallel()
	c := cluster{chaptertest.New(t)}
	for _, form := range []string{"yaml", "json"} {
		file := kubeconfig(t, c.Kubectl("config", "view", "--raw", "--minify", "--flatten", "-o", form))
		c.start(file).Prints(1, `(?m)^ready: `)
	}
	c.Apply(foo)
	c.converges("foo")
}
