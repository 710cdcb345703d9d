//go:build integration

package main

import "testing"

// TestReadme runs the commands of README.md.
func TestReadme(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	// A kubeconfig with the test's namespace, so that kubectl needs no -n.
	kubeconfig := c.Here()
	c.Kubectl("apply", "-f", "config/samples")
	program := c.start(kubeconfig)
	c.becomes("at/later", "{.status.phase}", "PENDING")
	c.runs("example-at")

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
