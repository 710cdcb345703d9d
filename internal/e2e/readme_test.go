//go:build integration

package e2e

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// secondTerminal returns the commands that README.md tells people to try, without
// the line that sets their environment: make test has set it.
func secondTerminal(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "## Try it in a second terminal")
	_, after, _ = strings.Cut(after, "```sh\n")
	block, _, found := strings.Cut(after, "```")
	if !found {
		t.Fatal("README.md has no second terminal")
	}
	var commands []string
	for line := range strings.Lines(block) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "export ") {
			commands = append(commands, line)
		}
	}
	return commands
}

// Each command of the README's second terminal runs, and what it promises comes
// true.
func TestReadme(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	own := *s
	own.namespace = "default"
	s = &own
	shell := func(command string) {
		t.Helper()
		run := exec.Command("sh", "-c", command)
		run.Dir = "../.."
		if output, err := run.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", command, err, output)
		}
	}
	shell("kubectl apply -f config/samples")
	t.Cleanup(func() { shell("kubectl delete --ignore-not-found -f config/samples") })
	c := start(t, nil, "--namespace", "default")

	is := func(deployment string, replicas int32) func() {
		return func() { t.Helper(); s.converges("example-foo", deployment, replicas) }
	}
	nothing := func() {}
	steps := []struct {
		command string // how the README's line begins
		holds   func()
	}{
		{"kubectl explain foo.spec", nothing},
		{"kubectl get foo,project,deployment", nothing},
		{"kubectl wait --for=condition=Ready foo/example-foo", is("example-foo", 1)},
		{"kubectl scale foo example-foo --replicas=3", is("example-foo", 3)},
		{"kubectl delete deployment example-foo", is("example-foo", 3)},
		{"kubectl scale deployment example-foo --replicas=7", is("example-foo", 3)},
		{"kubectl patch foo example-foo", func() {
			s.converges("example-foo", "renamed", 3)
			s.goes("example-foo")
		}},
		{"kubectl describe foo example-foo", nothing},
		{"kubectl delete foo example-foo", func() {
			s.eventually("the Deployment follows", func() error { _, err := s.deployment("renamed"); return gone(err) })
		}},
		{"kubectl patch project example-project", func() {
			project, err := s.client.ExamplesV1alpha1().Projects("default").Get(t.Context(), "example-project", metav1.GetOptions{})
			if err != nil || project.Spec.Replicas != 2 {
				t.Errorf("Project %v (%v), want 2 replicas", project, err)
			}
			c.waitFor("changed  Project default/example-project: replicas 2")
		}},
	}
	commands := secondTerminal(t)
	if len(commands) != len(steps) {
		t.Fatalf("README.md has %d commands, this test knows %d", len(commands), len(steps))
	}
	for i, step := range steps {
		if !strings.HasPrefix(commands[i], step.command) {
			t.Fatalf("command %d of README.md is %q, this test expects %q", i+1, commands[i], step.command)
		}
		shell(commands[i])
		step.holds()
	}
	c.stop()
}
