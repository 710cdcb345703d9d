//go:build integration

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/byhand/chapters/internal/chaptertest"
)

// The rights in config/rbac are enough for everything that the program does.
func TestRights(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	asAccount := c.AccountWith("byhand-finalizer")

	// An orphan, more volumes, fewer, none.
	if err := os.Mkdir(string(c.directory), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := c.directory.Create(t.Context(), uid(1), 0); err != nil {
		t.Fatal(err)
	}
	p := c.program(asAccount)
	p.Prints(1, "Deleted the volumes of a Project that is gone")
	owner := c.create("p", 2)
	c.has(owner, 2)
	c.scale("p", 1)
	c.has(owner, 1)
	c.tells("p", "VolumesReady", "1 volumes")
	c.delete("p")
	c.goes("p", owner)
	if output := p.Output(); strings.Contains(strings.ToLower(output), "forbidden") {
		t.Errorf("a right is missing:\n%s", output)
	}
}

// A mistake in the command line gets one line that says what to do, and exit code 1.
func TestMistakes(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		reason string
		args   []string
		want   string
	}{
		{"no store", nil, "--store DIR"},
		{"a store that is a file", []string{"--store", file}, "not a directory"},
		{"no volumes at all", []string{"--store", t.TempDir(), "--max-volumes", "0"}, "--max-volumes at least 1"},
		{"a flag that does not exist", []string{"--stroe", t.TempDir()}, "--help"},
		{"no kubeconfig", []string{"--store", t.TempDir(), "--kubeconfig", "/nowhere/config"}, "cannot read the kubeconfig"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			p := chaptertest.Start(t, test.args...)
			if code := p.Exit(); code != 1 {
				t.Errorf("exit code %d, want 1", code)
			}
			output := strings.TrimSpace(p.Output())
			if strings.Contains(output, "\n") || !strings.HasPrefix(output, "finalizer: ") || !strings.Contains(output, test.want) {
				t.Errorf("want one line that begins with finalizer: and says %q, got\n%s", test.want, output)
			}
		})
	}
	p := chaptertest.Start(t, "--help")
	if code := p.Exit(); code != 0 || !strings.Contains(p.Output(), "-max-volumes") {
		t.Errorf("--help: exit code %d and\n%s", code, p.Output())
	}
}
