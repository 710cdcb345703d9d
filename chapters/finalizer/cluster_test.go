//go:build integration

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/byhand/chapters/internal/chaptertest"
	"example.com/byhand/clientset"
)

// The kind is the core's.
func TestMain(m *testing.M) { os.Exit(chaptertest.Run(m, chaptertest.CoreCRDs)) }

// cluster is an API server with a namespace that is the test's own, and a store.
type cluster struct {
	*chaptertest.Cluster
	directory
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
