//go:build integration

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"k8s.io/client-go/tools/clientcmd"

	"example.com/byhand/chapters/internal/chaptertest"
)

// TestReadme runs the commands of README.md.
func TestReadme(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	// A kubeconfig with the test's namespace, so that kubectl needs no -n.
	config, err := clientcmd.LoadFromFile(c.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.Contexts[config.CurrentContext].Namespace = c.Namespace
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, kubeconfig); err != nil {
		t.Fatal(err)
	}
	shell := func(command string) (string, error) {
		run := exec.Command("sh", "-c", command)
		run.Dir, run.Env = "../..", append(os.Environ(), "KUBECONFIG="+kubeconfig)
		output, err := run.CombinedOutput()
		return string(output), err
	}
	c.Kubectl("apply", "-f", "config/samples")
	program := c.start(kubeconfig)
	c.becomes("later", PhasePending, "")
	c.runs("example-at")

	says := map[string]string{
		"kubectl explain":             "RFC 3339",
		"kubectl get pods":            "Running",
		"kubectl patch at example-at": "spec cannot be changed once the phase is no longer PENDING",
		"kubectl wait at example-at":  "condition met",
		"kubectl delete pod":          "deleted",
		"kubectl wait at later --for=jsonpath='{.status.reason}'": "condition met",
	}
	for _, command := range chaptertest.Commands(t, "Try it") {
		output, err := shell(command)
		if refused := strings.HasPrefix(command, "kubectl patch at example-at"); (err != nil) != refused {
			t.Fatalf("%s: %v\n%s", command, err, output)
		}
		for begins, want := range says {
			if strings.HasPrefix(command, begins) && !strings.Contains(output, want) {
				t.Errorf("%s does not say %q:\n%s", command, want, output)
			}
		}
	}
	// TestDeletedAts waits for the garbage collector.
	program.Signal(syscall.SIGTERM)
	if code := program.Exit(); code != 0 {
		t.Errorf("exit code %d after SIGTERM, want 0", code)
	}
}

// TestMistakesOfUse: each gets one line that says what to do, and exit code 1.
func TestMistakesOfUse(t *testing.T) {
	t.Parallel()
	chaptertest.Mistakes(t, map[string][]string{
		"flag provided but not defined": {"--no-such-flag"},
		"usage: no arguments":           {"now"},
		"cannot read the kubeconfig":    {"--kubeconfig", "/nowhere"},
	})
}
