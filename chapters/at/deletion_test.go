//go:build integration

package main

import (
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestDeletedAts deletes Ats whose Pods still run.
func TestDeletedAts(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	names := []string{"background", "foreground", "orphan", "background-off", "orphan-off"}
	pods := map[string]string{}
	program := c.start(c.Kubeconfig)
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
	staysFree := func(name string) {
		t.Helper()
		c.Eventually("the Pod of "+name+" is released", func() error {
			pod, err := c.pods.Get(t.Context(), pods[name], metav1.GetOptions{})
			if err == nil && (isTracked(pod) || pod.DeletionTimestamp != nil) {
				err = fmt.Errorf("finalizers %q, deleted %v", pod.Finalizers, pod.DeletionTimestamp)
			}
			return err
		})
	}
	goes("background")
	goes("foreground")
	staysFree("orphan")

	program.Kill()
	c.delete("background-off", metav1.DeletePropagationBackground)
	c.delete("orphan-off", metav1.DeletePropagationOrphan)
	c.Eventually("the garbage collector acts", func() error {
		deleted, err := c.pods.Get(t.Context(), pods["background-off"], metav1.GetOptions{})
		orphan, err2 := c.pods.Get(t.Context(), pods["orphan-off"], metav1.GetOptions{})
		if err := errors.Join(err, err2); err != nil {
			return err
		}
		if deleted.DeletionTimestamp == nil || len(orphan.OwnerReferences) > 0 {
			return errors.New("not yet")
		}
		return nil
	})
	c.start(c.Kubeconfig)
	goes("background-off")
	staysFree("orphan-off")
}

// TestNamespaceDeletion: what is in a namespace goes with it, and nothing hangs. The
// namespace itself follows after half of the Pods' grace period, whatever became of them.
func TestNamespaceDeletion(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.start(c.Kubeconfig)
	c.create("running", past)
	c.create("later", "9999-12-31T23:59:59Z")
	c.runs("running")
	if err := c.Kube.CoreV1().Namespaces().Delete(t.Context(), c.Namespace, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	c.Eventually("the Ats and the Pods go", func() error {
		ats, err := c.client.Ats(c.Namespace).List(t.Context(), metav1.ListOptions{})
		pods, err2 := c.pods.List(t.Context(), metav1.ListOptions{})
		if err := errors.Join(err, err2); err != nil || len(ats.Items)+len(pods.Items) == 0 {
			return err
		}
		return fmt.Errorf("%d Ats and %d Pods are left", len(ats.Items), len(pods.Items))
	})
}
