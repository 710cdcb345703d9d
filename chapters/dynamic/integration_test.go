//go:build integration

package main

import (
	"os"
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
		script.Take(command)
		// The sample is in the test's namespace instead of default.
		args = strings.ReplaceAll(args, "default", c.Namespace)
		p := c.Start(append(strings.Fields(args), "--kubeconfig", kubeconfig)...)
		if strings.Contains(args, " -w") {
			p.Prints(1, `ready: watching`)
			p.Stop()
		} else if code := p.Exit(); code != 0 {
			t.Errorf("%s: exit code %d", command, code)
		}
		// No update is lost on a real server, either.
		if output := p.Output(); strings.HasPrefix(args, "collide") && !strings.Contains(output, " went from 0 to 10") {
			t.Errorf("%s:\n%s", command, output)
		}
	}
}
