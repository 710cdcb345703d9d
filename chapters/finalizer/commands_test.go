//go:build integration

package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/byhand/chapters/internal/chaptertest"
	"example.com/byhand/clientset"
)

// Each command of the README runs, and what it promises comes true. The program looks at
// the README's namespace alone, with the rights of config/rbac, and its folder bin/volumes is in a
// directory of the test.
//
// It waits most of the time, for the namespace controller. So it is the first test of the
// package, by the name of this file, and the others run meanwhile.
func TestReadme(t *testing.T) {
	t.Parallel()
	const namespace = "byhand-shelf"
	c := newCluster(t)
	c.projects = clientset.NewForConfigOrDie(c.Config).ExamplesV1alpha1().Projects(namespace)
	t.Cleanup(func() {
		_ = c.Kube.CoreV1().Namespaces().Delete(context.Background(), namespace, metav1.DeleteOptions{})
	})
	here, err := filepath.Abs("..")
	checkout := t.TempDir()
	if err = errors.Join(err, os.Symlink(here, filepath.Join(checkout, "chapters"))); err != nil {
		t.Fatal(err)
	}
	c.directory = directory(filepath.Join(checkout, "bin/volumes"))

	account := c.AccountWith("byhand-finalizer")
	start := func() *chaptertest.Program {
		p := c.Start("--kubeconfig", account, "--store", string(c.directory), "--namespace", namespace)
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
	c.oneOwnerHas(3)
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
	c.oneOwnerHas(3)

	script.Take("make chapter CHAPTER=finalizer")
	start()
	script.Run("kubectl wait --for=delete namespace/byhand-shelf")
	script.Run("ls bin/volumes")
	if owners, err := c.Owners(t.Context()); err != nil || len(owners) > 0 {
		t.Errorf("the store has folders of %v (%v), want none", owners, err)
	}
}

// oneOwnerHas waits until the one folder in the store has this many volumes.
func (c *cluster) oneOwnerHas(count int) {
	c.Helper()
	owners, err := c.Owners(c.Context())
	if err != nil || len(owners) != 1 {
		c.Fatalf("the store has folders of %v (%v), want one", owners, err)
	}
	c.has(owners[0], count)
}
