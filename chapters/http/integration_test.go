//go:build integration

package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"example.com/byhand/chapters/internal/chaptertest"
)

// The CRD of Foos is the core's. Right after it is installed the server may answer 429: its
// storage is initializing. kubectl waits and asks again, the program does not.
func TestMain(m *testing.M) {
	os.Exit(chaptertest.Run(m, chaptertest.CoreCRDs, "kubectl get foos --all-namespaces"))
}

// cluster is the API server, and a namespace of the test's own.
type cluster struct{ *chaptertest.Cluster }

// start runs the program for the test's namespace alone.
func (c cluster) start(kubeconfig string) *chaptertest.Program {
	return c.Start("--kubeconfig", kubeconfig, "--namespace", c.Namespace)
}

// converges waits until the status of a Foo says that it has its Deployment, and it has.
func (c cluster) converges(foo, deployment string) {
	c.Helper()
	c.Kubectl("wait", "foo/"+foo, "--for=jsonpath={.status.observedGeneration}=1", "--timeout=60s")
	c.Kubectl("wait", "deployment/"+deployment, "--for=jsonpath={.metadata.ownerReferences[0].name}="+foo, "--timeout=60s")
}

const fooYAML = "apiVersion: samplecontroller.k8s.io/v1alpha1\nkind: Foo\nmetadata:\n  name: foo\nspec:\n  deploymentName: deployment\n"

// The commands of the README do what it says.
func TestReadme(t *testing.T) {
	t.Parallel()
	c := cluster{chaptertest.New(t)}
	// A kubeconfig whose namespace is the test's own.
	kubeconfig := c.Here()
	script := c.Readme(kubeconfig)
	script.Patience = 0
	// As make chapter does.
	c.Kubectl("apply", "-f", "../../config/samples")
	p := c.start(kubeconfig)
	prints := func(command, pattern string) {
		t.Helper()
		if output := script.Run(command); !regexp.MustCompile(pattern).MatchString(output) {
			t.Errorf("want %s, got\n%s", pattern, output)
		}
	}

	c.converges("example-foo", "example-foo")
	p.Prints(1, `(?m)^POST .*/deployments → 201 Created$`)
	p.Prints(1, `(?m)^PUT .*/foos/example-foo/status → 200 OK$`)
	prints("kubectl get foo example-foo", `"observedGeneration":1`)
	prints("kubectl get deployment example-foo", `"name":"example-foo"`)
	prints("kubectl get --raw", `(?m)^\{"type":"ADDED",.*example-foo`)
	script.Run("kubectl label foo example-foo")
	p.Prints(2, `(?m)^(ADDED|MODIFIED) .*/example-foo, `)
	script.Run("kubectl delete foo example-foo")
	p.Prints(1, `(?m)^DELETED .*/example-foo, `)
	script.Run("kubectl wait --for=delete deployment/example-foo")
	script.Run("kubectl apply -f config/samples/foo.yaml", "created")
	p.Prints(2, `(?m)^PUT .*/foos/example-foo/status → 200 OK$`)
	p.Stop()
}

// The rights in config/rbac are enough, with a token. Without them it ends
// with one line.
func TestRights(t *testing.T) {
	t.Parallel()
	c := cluster{chaptertest.New(t)}
	c.Kubectl("create", "serviceaccount", "http")
	file := c.As(c.Kubectl("create", "token", "http"))

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
	c.Apply(fooYAML)
	c.Eventually("the rights are there", func() error {
		return exec.Command("kubectl", "--kubeconfig", file, "auth", "can-i", "create", "deployments", "--namespace", c.Namespace).Run()
	})
	c.start(file).Prints(1, `(?m)^ready: `)
	c.converges("foo", "deployment")
}
