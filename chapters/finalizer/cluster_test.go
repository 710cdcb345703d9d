//go:build integration

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/byhand/api/examples-gzh.com/v1alpha1"
	"example.com/byhand/chapters/internal/chaptertest"
	"example.com/byhand/clientset"
)

// The kind is the core's.
func TestMain(m *testing.M) { os.Exit(chaptertest.Run(m, chaptertest.CoreCRDs)) }

// cluster is an API server with a namespace that is the test's own, and a store.
type cluster struct {
	*chaptertest.Cluster
	directory
	// projects are those of the namespace.
	projects clientset.ProjectInterface
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{Cluster: chaptertest.New(t), directory: directory(filepath.Join(t.TempDir(), "store"))}
	c.projects = clientset.NewForConfigOrDie(c.Config).ExamplesV1alpha1().Projects(c.Namespace)
	t.Cleanup(c.force)
	return c
}

// force removes the finalizers of all Projects in the namespace, which could not go
// otherwise: the program no longer runs.
func (c *cluster) force() {
	list, err := c.projects.List(context.Background(), metav1.ListOptions{})
	for _, project := range list.Items {
		_, patchErr := c.projects.Patch(context.Background(), project.Name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		err = errors.Join(err, patchErr)
	}
	if err != nil {
		c.Errorf("clean up: %v", err)
	}
}

// create creates a Project and returns its UID.
func (c *cluster) create(name string, replicas int32) types.UID {
	c.Helper()
	project := &v1alpha1.Project{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.ProjectSpec{Replicas: replicas}}
	created, err := c.projects.Create(c.Context(), project, metav1.CreateOptions{})
	if err != nil {
		c.Fatal(err)
	}
	return created.UID
}

func (c *cluster) scale(name string, replicas int) {
	c.Helper()
	patch := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas)
	if _, err := c.projects.Patch(c.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		c.Fatal(err)
	}
}

// delete deletes a Project. It does not wait until it is gone.
func (c *cluster) delete(name string) {
	c.Helper()
	if err := c.projects.Delete(c.Context(), name, metav1.DeleteOptions{}); err != nil {
		c.Fatal(err)
	}
}

// program starts the program, on the test's namespace and store, until it works.
func (c *cluster) program(kubeconfig string, args ...string) *chaptertest.Program {
	c.Helper()
	p := c.Start(append([]string{"--kubeconfig", kubeconfig, "--store", string(c.directory), "--namespace", c.Namespace}, args...)...)
	p.Prints(1, "ready: ")
	return p
}

// has waits until an owner has this many volumes, from 0 on, and no other.
func (c *cluster) has(owner types.UID, count int) {
	c.Helper()
	var want []int
	for n := range count {
		want = append(want, n)
	}
	c.Eventually("volumes of "+string(owner), func() error {
		got, err := c.Volumes(c.Context(), owner)
		if slices.Sort(got); err != nil || !slices.Equal(got, want) {
			return fmt.Errorf("there are %v (%v), want %v", got, err, want)
		}
		return nil
	})
}

// goes waits until a Project is gone, and checks that nothing of it is left.
func (c *cluster) goes(name string, owner types.UID) {
	c.Helper()
	c.Eventually("the end of "+name, func() error {
		if _, err := c.projects.Get(c.Context(), name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("it is still there (%v)", err)
		}
		return nil
	})
	if owners, err := c.Owners(c.Context()); err != nil || slices.Contains(owners, owner) {
		c.Errorf("the store has folders of %v (%v), want none of %s", owners, err, owner)
	}
}

// tells waits until an Event says this of a Project.
func (c *cluster) tells(name, reason, message string) {
	c.Helper()
	c.Eventually("an Event of "+name, func() error {
		events, err := c.Kube.CoreV1().Events(c.Namespace).List(c.Context(), metav1.ListOptions{FieldSelector: "involvedObject.name=" + name})
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(events.Items, func(e corev1.Event) bool { return e.Reason == reason && strings.Contains(e.Message, message) }) {
			return fmt.Errorf("none of %d says %s: %s", len(events.Items), reason, message)
		}
		return nil
	})
}
