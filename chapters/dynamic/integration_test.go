//go:build integration

package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"example.com/byhand/chapters/internal/chaptertest"
)

// This chapter has no kinds of its own: it uses Foos and Projects.
func TestMain(m *testing.M) { os.Exit(chaptertest.Run(m, chaptertest.CoreCRDs)) }

// samples creates the objects of config/samples in the test's namespace, and returns a
// kubeconfig in which that is the namespace to look in.
func samples(c *chaptertest.Cluster) (kubeconfig string) {
	c.Helper()
	c.Kubectl("apply", "-f", "../../config/samples")
	return c.Here()
}

// Each command of the README does what it says there.
func TestReadme(t *testing.T) {
	t.Parallel()
	c := chaptertest.New(t)
	kubeconfig := samples(c)
	script := c.Readme(kubeconfig)
	for _, command := range script.Commands {
		args, ours := strings.CutPrefix(command, "bin/dynamic ")
		if !ours {
			script.Run(command)
			continue
		}
		script.Skip(command)
		// The sample is in the test's namespace instead of default.
		args = strings.ReplaceAll(args, "default", c.Namespace)
		p := c.Start(append(strings.Fields(args), "--kubeconfig", kubeconfig)...)
		if strings.Contains(args, " -w") {
			p.Prints(1, `ready: watching`)
			p.Stop()
		} else if code := p.Exit(); code != 0 {
			t.Errorf("%s: exit code %d", command, code)
		}
	}
}

// What the words print is what kubectl prints for them.
func TestLikeKubectl(t *testing.T) {
	t.Parallel()
	c := chaptertest.New(t)
	kubeconfig := samples(c)
	for _, args := range []string{"fo", "Project", "byhand", "foos.v1alpha1.samplecontroller.k8s.io example-foo"} {
		names := strings.Fields(c.Kubectl(append([]string{"get", "-o", "jsonpath={..metadata.name}"}, strings.Fields(args)...)...))
		stdout, _, err := dynamic(t, kubeconfig, append([]string{"get"}, strings.Fields(args)...)...)
		var got []string
		for line := range strings.Lines(stdout) {
			if cells := strings.Fields(line); cells[0] != "KIND" {
				got = append(got, cells[2])
			}
		}
		slices.Sort(names)
		slices.Sort(got)
		if err != nil || !slices.Equal(names, got) {
			t.Errorf("get %s: %q, %v; kubectl has %q", args, got, err, names)
		}
	}
	chaptertest.Mistakes(t, map[string][]string{"usage: get WORD": {"get"}})
}

// A watch shows what was there, and each change, as one document each; SIGTERM ends it.
func TestWatch(t *testing.T) {
	t.Parallel()
	c := chaptertest.New(t)
	kubeconfig := samples(c)
	p := c.Start("get", "-w", "foo", "example-foo", "-o", "json", "--kubeconfig", kubeconfig)
	p.Prints(1, `ready: watching foos.samplecontroller.k8s.io`)
	p.Prints(1, `"type": "ADDED"`)
	c.Kubectl("patch", "foo", "example-foo", "--type=merge", "-p", `{"spec": {"replicas": 5}}`)
	p.Prints(1, `"replicas": 5`)
	c.Kubectl("delete", "foo", "example-foo")
	p.Prints(1, `"type": "DELETED"`)
	p.Stop()
}

// Two writers collide on the real server, for a Foo, for a Deployment, whose kind allows an
// update without a version, and for what is in no namespace. No update is lost.
func TestCollideOnServer(t *testing.T) {
	t.Parallel()
	c := chaptertest.New(t)
	kubeconfig := samples(c)
	c.Kubectl("create", "deployment", "a", "--image=a", "--replicas=0")
	for _, args := range []string{"foo example-foo", "deployment a", "namespace " + c.Namespace} {
		stdout, _, err := dynamic(t, kubeconfig, append([]string{"collide"}, strings.Fields(args)...)...)
		var updates, conflicts, from, to int
		lines := strings.Split(strings.TrimSpace(stdout), "\n")
		_, scanErr := fmt.Sscanf(lines[len(lines)-1], "%d updates, %d conflicts: "+counter+" went from %d to %d", &updates, &conflicts, &from, &to)
		// Controllers of Kubernetes write to these objects, too: they add conflicts.
		if err != nil || scanErr != nil || updates != 2*rounds || conflicts < rounds || from != 0 || to != updates {
			t.Errorf("%s: %v, %v\n%s", args, err, scanErr, stdout)
		}
		if strings.Count(stdout, "the object has been modified") != conflicts {
			t.Errorf("%s: not each conflict is the server's:\n%s", args, stdout)
		}
	}
}
