//go:build integration

package main

import (
	"net/http"
	"strings"
	"testing"

	"example.com/byhand/chapters/internal/chaptertest"
)

// The rights in config/rbac are enough for everything that the program does.
func TestRights(t *testing.T) {
	c := &cluster{Cluster: chaptertest.New(t)}
	c.Shell("kubectl apply -f config/rbac")
	t.Cleanup(func() { c.Shell("kubectl delete -f config/rbac") })
	asAccount := c.As(c.Kubectl("create", "token", "byhand-apiserver", "--namespace", "default"))
	c.program = c.Start("--kubeconfig", asAccount)
	c.program.Prints(1, "ready: ")
	c.menu()
	c.program.Stop()
	if output := c.program.Output(); strings.Contains(output, http.StatusText(http.StatusForbidden)) || strings.Contains(output, "forbidden") {
		t.Errorf("a right is missing:\n%s", output)
	}
}

// A mistake in the command line gets one line that says what to do, and exit code 1.
func TestMistakes(t *testing.T) {
	chaptertest.Mistakes(t, map[string][]string{
		"cannot read the kubeconfig": {"--kubeconfig", "/nowhere/config"},
	})
}
