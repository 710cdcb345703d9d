//go:build integration

package main

import (
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestDeletedAts deletes Ats whose Pods still run.
func TestDeletedAts(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	names := []string{"background", "foreground", "orphan"}
	pods := map[string]string{}
	c.start(c.Kubeconfig)
	for _, name := range names {
		c.create(name, past)
	}
	for _, name := range names {
		pods[name] = c.runs(name).Name
	}
	c.delete("background", metav1.DeletePropagationBackground)
	c.delete("foreground", metav1.DeletePropagationForeground)
	c.delete("orphan", metav1.DeletePropagationOrphan)
	goes := func(name string) {
		t.Helper()
		c.Eventually("the Pod of "+name+" goes", func() error {
			_, err := c.pods.Get(t.Context(), pods[name], metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				return nil
			}
			return fmt.Errorf("it is still there (%v)", err)
		})
	}
	goes("background")
	goes("foreground")
	c.Eventually("the Pod of orphan is released", func() error {
		pod, err := c.pods.Get(t.Context(), pods["orphan"], metav1.GetOptions{})
		if err == nil && (isTracked(pod) || pod.DeletionTimestamp != nil) {
			err = fmt.Errorf("finalizers %q, deleted %v", pod.Finalizers, pod.DeletionTimestamp)
		}
		return err
	})
}
