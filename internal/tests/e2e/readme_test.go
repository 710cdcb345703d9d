//go:build integration

package e2e

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/byhand/internal/tests/readme"
)

// Each command of the README's second terminal runs and has its documented effect. So do the commands of
// docs/trace.md, in any earlier state.
func TestReadme(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	own := *s
	own.namespace = "default"
	s = &own
	s.kubectl("apply", "-f", "config/samples")
	t.Cleanup(func() { s.kubectl("delete", "--ignore-not-found", "-f", "config/samples") })
	c := start(t, nil, "--namespace", "default")
	script := readme.Open(t, root+"/README.md", "Try it in a second terminal")
	script.Dir = root
	script.Run("kubectl explain foo.spec")
	script.Run("kubectl get foo,project,deployment")
	script.Run("kubectl wait --for=condition=Ready foo/example-foo")
	s.converges("example-foo", "example-foo", 1)
	script.Run("kubectl scale foo example-foo --replicas=3")
	s.converges("example-foo", "example-foo", 3)
	script.Run("kubectl delete deployment example-foo")
	s.converges("example-foo", "example-foo", 3)
	script.Run("kubectl scale deployment example-foo --replicas=7")
	s.converges("example-foo", "example-foo", 3)
	script.Run("kubectl patch foo example-foo")
	s.converges("example-foo", "renamed", 3)
	s.waitFor("delete", "deployment/example-foo")
	script.Run("kubectl describe foo example-foo")
	script.Run("kubectl delete foo example-foo")
	s.waitFor("delete", "deployment/renamed")
	script.Run("kubectl patch project example-project")
	project, err := s.client.ExamplesV1alpha1().Projects("default").Get(t.Context(), "example-project", metav1.GetOptions{})
	if err != nil || project.Spec.Replicas != 2 {
		t.Errorf("Project %v (%v), want 2 replicas", project, err)
	}
	c.WaitFor("changed  Project default/example-project: replicas 2")

	s.kubectl("apply", "-f", "config/samples")
	s.converges("example-foo", "example-foo", 1)
	c.Stop()
	script = readme.Open(t, root+"/docs/trace.md", "Step by step")
	script.Dir = root
	script.Run("kubectl delete foo example-foo")
	script.Run("kubectl apply -f config/samples")
	args := strings.TrimPrefix(script.Take("bin/byhand "), "bin/byhand ")
	c = start(t, nil, "--namespace", "default", args)
	c.WaitFor("created Deployment example-foo")
	c.Stop()
}
