//go:build integration

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/byhand/chapters/internal/chaptertest"
	"example.com/byhand/clientset"
)

// Each command of the README runs, and what it promises comes true. The program looks at
// the README's namespace alone, and its folder bin/volumes is in a directory of the test.
//
// It waits most of the time, for the namespace controller. So it is the first test of the
// package, by the name of this file, and the others run meanwhile.
func TestReadme(t *testing.T) {
	t.Parallel()
	const namespace = "shelf"
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

	var p *chaptertest.Program
	start := func() {
		p = c.Start("--kubeconfig", c.Kubeconfig, "--store", string(c.directory), "--namespace", namespace)
		p.Prints(1, "ready: ")
	}
	stop := func() {
		p.Signal(syscall.SIGINT)
		if code := p.Exit(); code != 0 {
			t.Errorf("exit code %d after Ctrl-C, want 0", code)
		}
	}
	steps := []struct {
		command string // how the README's line begins
		before  func()
		want    string // in the output, sooner or later
	}{
		{"make chapter CHAPTER=finalizer", start, ""},
		{"kubectl create namespace shelf", nil, "created"},
		{"kubectl apply -n shelf -f chapters/finalizer/config/samples", nil, "created"},
		{"kubectl get project example-project -n shelf -o jsonpath='{.metadata.uid}", nil, `["` + finalizer + `"]`},
		{"ls bin/volumes/$(kubectl get", nil, "0\n1\n"},
		{`kubectl patch project example-project -n shelf --type=merge -p '{"spec":{"replicas":3}}'`, nil, "patched"},
		{`kubectl patch project example-project -n shelf --type=merge -p '{"spec":{"replicas":1000000000}}'`, func() { c.oneOwnerHas(3) }, "patched"},
		{"kubectl get events -n shelf", nil, "TooManyVolumes"},
		{"kubectl delete namespace shelf --wait=false", stop, "deleted"},
		{"kubectl get namespace shelf", nil, "Terminating"},
		{"kubectl get namespace shelf -o jsonpath", nil, finalizer},
		{"kubectl get project example-project -n shelf -o jsonpath='{.metadata.deletionTimestamp}", nil, finalizer},
		{"make chapter CHAPTER=finalizer", func() { c.oneOwnerHas(3); start() }, ""},
		{"kubectl wait --for=delete namespace/shelf", nil, ""},
		{"ls bin/volumes", nil, ""},
	}
	commands := chaptertest.Commands(t, "Try it")
	if len(commands) != len(steps) {
		t.Fatalf("README.md has %d commands, this test knows %d", len(commands), len(steps))
	}
	for i, step := range steps {
		if !strings.HasPrefix(commands[i], step.command) {
			t.Fatalf("command %d of README.md is %q, this test expects %q", i+1, commands[i], step.command)
		}
		if step.before != nil {
			step.before()
		}
		if strings.HasPrefix(step.command, "make ") {
			continue // start does what it does
		}
		c.Eventually(commands[i], func() error {
			shell := exec.Command("sh", "-c", commands[i])
			shell.Dir = checkout
			output, err := shell.CombinedOutput()
			if err != nil || !strings.Contains(string(output), step.want) {
				return fmt.Errorf("%v, want %q, got\n%s", err, step.want, output)
			}
			return nil
		})
	}
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
