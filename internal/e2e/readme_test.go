//go:build integration

package e2e

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// readmeCommands returns the first commands that README.md has below a heading, without
// the line that sets their environment: make test has set it.
func readmeCommands(t *testing.T, heading string) []string {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "\n"+heading+"\n")
	_, after, _ = strings.Cut(after, "```sh\n")
	block, _, found := strings.Cut(after, "```")
	if !found {
		t.Fatalf("README.md has no commands below %q", heading)
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
// true. So do those of its trace, whatever there is before.
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
	commands := readmeCommands(t, "## Try it in a second terminal")
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

	shell("kubectl apply -f config/samples")
	is("example-foo", 1)()
	c.stop()
	commands = readmeCommands(t, "### Step by step")
	last := len(commands) - 1
	for _, command := range commands[:last] {
		shell(command)
	}
	args, found := strings.CutPrefix(commands[last], "bin/byhand ")
	if !found {
		t.Fatalf("the last command is %q", commands[last])
	}
	c = start(t, nil, "--namespace", "default", args)
	c.waitFor("created Deployment example-foo")
	c.stop()
}
