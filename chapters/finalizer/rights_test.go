//go:build integration

package main

import (
	"errors"
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
	owner := c.create("p", 2).UID
	c.has(owner, 2)
	c.change("p", scaled(1))
	c.has(owner, 1)
	c.Eventually("an Event", func() error {
		if events := c.Kubectl("get", "events"); !strings.Contains(events, "1 volumes: 0 created, 1 deleted") {
			return errors.New(events)
		}
		return nil
	})
	c.delete("p")
	c.Kubectl("wait", "--for=delete", "project/p", "--timeout=60s")
	if owners, err := c.Owners(t.Context()); err != nil || len(owners) > 0 {
		t.Errorf("the store has folders of %v (%v), want none", owners, err)
	}
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
	chaptertest.Mistakes(t, map[string][]string{
		"--store DIR":                nil, // no store
		"not a directory":            {"--store", file},
		"--max-volumes at least 1":   {"--store", t.TempDir(), "--max-volumes", "0"},
		"--help":                     {"--stroe", t.TempDir()},
		"cannot read the kubeconfig": {"--store", t.TempDir(), "--kubeconfig", "/nowhere/config"},
	})
	p := chaptertest.Start(t, "--help")
	if code := p.Exit(); code != 0 || !strings.Contains(p.Output(), "-max-volumes") {
		t.Errorf("--help: exit code %d and\n%s", code, p.Output())
	}
}
