//go:build integration

package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"example.com/byhand/chapters/internal/chaptertest"
)

func TestMain(m *testing.M) { os.Exit(chaptertest.Run(m)) }

// cluster is a namespace on a real API server, for Ats.
type cluster struct{ *chaptertest.Cluster }

func newCluster(t *testing.T) cluster {
	t.Helper()
	c := cluster{chaptertest.New(t)}
	// The program has ended by then, and no other one removes its finalizer.
	t.Cleanup(func() {
		for pod := range strings.FieldsSeq(c.Kubectl("get", "pods", "-l", uidLabel, "-o", "name")) {
			c.Kubectl("patch", pod, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
		}
	})
	return c
}

// start runs the program on the test's namespace until it is ready.
func (c cluster) start(kubeconfig string) *chaptertest.Program {
	c.Helper()
	p := c.Start("--kubeconfig", kubeconfig, "--namespace", c.Namespace)
	p.Prints(1, "ready: ")
	return p
}

const past = "2026-01-01T00:00:00Z"

// create creates an At.
func (c cluster) create(name, schedule string) {
	c.Helper()
	c.Apply(fmt.Sprintf(`{"apiVersion":"cnat.programming-kubernetes.info/v1alpha1","kind":"At","metadata":{"name":%q},
		"spec":{"schedule":%q,"containers":[{"name":"main","image":"busybox","command":["echo","hello"]}]}}`, name, schedule))
}

// becomes waits until a field of an object, such as "{.status.phase}", has this value.
func (c cluster) becomes(object, field, value string) {
	c.Helper()
	c.Kubectl("wait", object, "--for=jsonpath="+field+"="+value, "--timeout=60s")
}

// runs waits until the status of an At has the UID of its Pod, and the Pod runs.
func (c cluster) runs(name string) (pod string) {
	c.Helper()
	c.Kubectl("wait", "at/"+name, "--for=jsonpath={.status.podUID}", "--timeout=60s")
	pod = "pod/" + c.Kubectl("get", "at", name, "-o", "jsonpath={.status.podName}")
	c.becomes(pod, "{.status.phase}", "Running")
	return pod
}

// released waits until a Pod, which stays, does not have our finalizer any more.
func (c cluster) released(pod string) {
	c.Helper()
	c.Eventually(pod+" is released", func() error {
		if left := c.Kubectl("get", pod, "-o", "jsonpath={.metadata.finalizers}{.metadata.deletionTimestamp}"); left != "" {
			return errors.New(left)
		}
		return nil
	})
}
