//go:build integration

package main

import (
	"os"
	"strings"
	"testing"

	"example.com/byhand/chapters/internal/chaptertest"
)

func TestMain(m *testing.M) { os.Exit(chaptertest.Run(m)) }

func newCluster(t *testing.T) *chaptertest.Cluster {
	t.Helper()
	c := chaptertest.New(t)
	c.Kubectl("apply", "-f", "config/samples")
	// The program has stopped by then, and nothing else removes its finalizer.
	t.Cleanup(func() {
		for pod := range strings.FieldsSeq(c.Kubectl("get", "pods", "-l", uidLabel, "-o", "name")) {
			c.Kubectl("patch", pod, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
		}
	})
	return c
}

func TestReadme(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	// A kubeconfig with the test's namespace, so that kubectl needs no -n.
	kubeconfig := c.Here()
	c.Kubectl("apply", "-f", "config/rbac/role.yaml")
	c.Kubectl("create", "rolebinding", "at", "--clusterrole=byhand-at", "--serviceaccount="+c.Namespace+":default")
	// For up to half a minute the API server cannot check permissions for blockOwnerDeletion of a
	// new kind. The program retries.
	program := c.Start("--kubeconfig", c.As(c.Kubectl("create", "token", "default")), "--namespace", c.Namespace)
	c.Kubectl("wait", "at/example-at", "--for=jsonpath={.status.podUID}", "--timeout=60s")
	c.Kubectl("wait", "pods", "-l", uidLabel, "--for=jsonpath={.status.phase}=Running", "--timeout=60s")
	c.Kubectl("wait", "at/later", "--for=jsonpath={.status.phase}=PENDING", "--timeout=60s")

	script := c.Readme(kubeconfig)
	script.Patience = 0
	script.Run("kubectl explain", "RFC 3339")
	script.Run("kubectl get ats")
	script.Run("kubectl get pods", "Running")
	script.Run("kubectl wait pod")
	script.Run("kubectl patch pod")
	script.Run("kubectl wait at example-at", "condition met")
	script.Refused("kubectl patch at example-at", "spec cannot be changed once the phase is no longer PENDING")
	script.Run("kubectl patch at later")
	script.Run("kubectl wait at later")
	script.Run("kubectl delete pod", "deleted")
	script.Run("kubectl wait at later --for=jsonpath='{.status.reason}'", "condition met")
	script.Run("kubectl get ats")
	script.Run("kubectl delete ats example-at later")
	script.Run("kubectl wait pod --for=delete")
	program.Stop()
}

// TestInvalid: a real API server rejects these objects; the in-memory one does not.
func TestInvalid(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	refused := func(want, patch string, more ...string) {
		t.Helper()
		output := c.KubectlFails(append(more, "patch", "at", "later", "--type=merge", "-p", patch)...)
		if !strings.Contains(output, "is invalid: ") || !strings.Contains(output, want) {
			t.Errorf("%s: want %q", output, want)
		}
	}
	refused(`"spec.command" must not validate the schema (not)`, `{"spec":{"command":"echo YAY","containers":null}}`)
	refused("spec.containers", `{"spec":{"containers":[]}}`)
	refused("Duplicate value", `{"spec":{"containers":[{"name":"a","image":"b"},{"name":"a","image":"c"}]}}`)
	refused("spec.startingDeadlineSeconds", `{"spec":{"startingDeadlineSeconds":-1}}`)
	// Go cannot decode these times. One of them in a status would break the list of all Ats.
	for _, notTime := range []string{"2026-01-02T15:04:05", "2026-01-02t00:30:00Z", "2026-01-02T00:30:00x5Z", "2026-01-02T00:30:00+99:99"} {
		refused("spec.schedule", `{"spec":{"schedule":"`+notTime+`"}}`)
		refused("status.startTime", `{"status":{"startTime":"`+notTime+`"}}`, "--subresource=status")
	}
	refused("status.startTime", `{"status":{"startTime":"2026-02-30T00:00:00Z"}}`, "--subresource=status")
	refused("status.podName", `{"status":{"podName":"../a"}}`, "--subresource=status")
}
