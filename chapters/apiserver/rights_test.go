//go:build integration

package main

import (
	"net/http"
	"os"
	"path/filepath"
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
	c.program = c.Start("--kubeconfig", asAccount, "--store", t.TempDir())
	c.program.Prints(1, "ready: ")
	c.menu()
	c.program.Stop()
	if output := c.program.Output(); strings.Contains(output, http.StatusText(http.StatusForbidden)) || strings.Contains(output, "forbidden") {
		t.Errorf("a right is missing:\n%s", output)
	}
}

// A mistake in the command line gets one line that says what to do, and exit code 1.
func TestMistakes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	chaptertest.Mistakes(t, map[string][]string{
		"--store DIR":                nil, // no store
		"not a directory":            {"--store", file},
		"--address":                  {"--store", t.TempDir(), "--address", "nowhere"},
		"--help":                     {"--stroe", t.TempDir()},
		"cannot read the kubeconfig": {"--store", t.TempDir(), "--kubeconfig", "/nowhere/config"},
	})
	p := chaptertest.Start(t, "--help")
	if code := p.Exit(); code != 0 || !strings.Contains(p.Output(), "-store") {
		t.Errorf("--help: exit code %d and\n%s", code, p.Output())
	}
}
