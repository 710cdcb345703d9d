//go:build integration

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"example.com/byhand/chapters/internal/chaptertest"
)

// The CRD is in config/crd of the root.
func TestMain(m *testing.M) { os.Exit(chaptertest.Run(m, chaptertest.CoreCRDs)) }

// TestReadme runs the README's commands in one namespace, with the permissions of config/rbac. bin/volumes is
// in a temporary directory.
func TestReadme(t *testing.T) {
	c := chaptertest.New(t)
	// Without the program, nothing else removes the finalizer.
	t.Cleanup(func() {
		c.Shell(`kubectl -n byhand-shelf patch project example-project --type=merge -p '{"metadata":{"finalizers":null}}' || true; kubectl delete --ignore-not-found --wait=false namespace byhand-shelf`)
	})
	here, err := filepath.Abs("..")
	checkout := t.TempDir()
	if err = errors.Join(err, os.Symlink(here, filepath.Join(checkout, "chapters"))); err != nil {
		t.Fatal(err)
	}
	store := filepath.Join(checkout, "bin/volumes")
	has := func(count int) {
		t.Helper()
		c.Eventually(fmt.Sprintf("%d volumes", count), func() error {
			if found, err := filepath.Glob(filepath.Join(store, "*/*")); err != nil || len(found) != count {
				return fmt.Errorf("there are %q (%v)", found, err)
			}
			return nil
		})
	}
	account := c.AccountWith("byhand-finalizer")
	start := func() *chaptertest.Program {
		p := c.Start("--kubeconfig", account, "--store", store, "--namespace", "byhand-shelf")
		p.Prints(1, "ready: ")
		return p
	}
	script := c.Readme(c.Kubeconfig)
	script.Dir = checkout

	script.Take("make chapter CHAPTER=finalizer")
	p := start()
	script.Run("kubectl create namespace byhand-shelf", "created")
	script.Run("kubectl apply -n byhand-shelf -f chapters/finalizer/config/samples", "created")
	script.Run("kubectl get project example-project -n byhand-shelf -o jsonpath='{.metadata.uid}", `["`+finalizer+`"]`)
	script.Run("ls bin/volumes/$(kubectl get", "0\n1\n")
	script.Run(`kubectl patch project example-project -n byhand-shelf --type=merge -p '{"spec":{"replicas":3}}'`, "patched")
	has(3)
	script.Run(`kubectl patch project example-project -n byhand-shelf --type=merge -p '{"spec":{"replicas":1000000000}}'`, "patched")
	script.Run("kubectl get events -n byhand-shelf", "TooManyVolumes")

	p.Signal(syscall.SIGINT)
	if code := p.Exit(); code != 0 {
		t.Errorf("exit code %d after Ctrl-C, want 0", code)
	}
	script.Run("kubectl delete namespace byhand-shelf --wait=false", "deleted")
	script.Run("kubectl get namespace byhand-shelf", "Terminating")
	script.Run("kubectl wait namespace/byhand-shelf", "condition met")
	script.Run("kubectl get namespace byhand-shelf -o jsonpath", finalizer)
	script.Run("kubectl get project example-project -n byhand-shelf -o jsonpath='{.metadata.deletionTimestamp}", finalizer)
	has(3)

	script.Take("make chapter CHAPTER=finalizer")
	start()
	script.Run("kubectl wait --for=delete namespace/byhand-shelf")
	script.Run("ls bin/volumes")
	has(0)
}
