//go:build integration

package main

import (
	"context"
	"fmt"
	"os"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"example.com/byhand/chapters/internal/chaptertest"
)

func TestMain(m *testing.M) { os.Exit(chaptertest.Run(m)) }

// cluster is a namespace on a real API server, for Ats.
type cluster struct {
	*chaptertest.Cluster
	client *Client
	pods   corev1client.PodInterface
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{Cluster: chaptertest.New(t)}
	var err error
	if c.client, err = NewClient(c.Config); err != nil {
		t.Fatal(err)
	}
	c.pods = c.Kube.CoreV1().Pods(c.Namespace)
	// The program has ended by then, and no other one removes its finalizer.
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		pods, err := c.pods.List(ctx, metav1.ListOptions{LabelSelector: uidLabel})
		if err != nil {
			t.Errorf("clean up: %v", err)
			return
		}
		for _, pod := range pods.Items {
			_, _ = c.pods.Patch(ctx, pod.Name, types.StrategicMergePatchType, fmt.Appendf(nil, releasePatch, pod.UID), metav1.PatchOptions{})
		}
	})
	return c
}

// start runs the program on the test's namespace until it is ready.
func (c *cluster) start(kubeconfig string) *chaptertest.Program {
	c.Helper()
	p := c.Start("--kubeconfig", kubeconfig, "--namespace", c.Namespace)
	p.Prints(1, "ready: ")
	return p
}

const past = "2026-01-01T00:00:00Z"

// create creates an At.
func (c *cluster) create(name, schedule string) {
	c.Helper()
	at := &At{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: AtSpec{Schedule: schedule,
		Containers: []AtContainer{{Name: "main", Image: "busybox", Command: []string{"echo", "hello"}}}}}
	if err := c.client.rest.Post().Namespace(c.Namespace).Resource("ats").Body(at).Do(c.Context()).Error(); err != nil {
		c.Fatal(err)
	}
}

// patch changes an At by a merge patch.
func (c *cluster) patch(name, patch string) error {
	return c.client.rest.Patch(types.MergePatchType).Namespace(c.Namespace).Resource("ats").Name(name).Body([]byte(patch)).Do(c.Context()).Error()
}

func (c *cluster) at(name string) *At {
	c.Helper()
	at, err := c.client.Ats(c.Namespace).Get(c.Context(), name, metav1.GetOptions{})
	if err != nil {
		c.Fatal(err)
	}
	return at
}

// becomes waits until an At has this phase and reason.
func (c *cluster) becomes(name string, phase Phase, reason Reason) {
	c.Helper()
	c.Eventually(fmt.Sprintf("At %s becomes %s %s", name, phase, reason), func() error {
		if got := c.at(name).Status; got.Phase != phase || got.Reason != reason {
			return fmt.Errorf("it is %+v", got)
		}
		return nil
	})
}

// runs waits until the status of an At has the UID of its Pod, and the Pod runs.
func (c *cluster) runs(name string) *corev1.Pod {
	c.Helper()
	var pod *corev1.Pod
	c.Eventually("the Pod of "+name+" runs", func() error {
		status := c.at(name).Status
		if status.PodUID == "" {
			return fmt.Errorf("%+v", status)
		}
		var err error
		if pod, err = c.pods.Get(c.Context(), status.PodName, metav1.GetOptions{}); err == nil && pod.Status.Phase != corev1.PodRunning {
			err = fmt.Errorf("it is %s", pod.Status.Phase)
		}
		return err
	})
	return pod
}

// released waits until a Pod, which stays, does not have our finalizer any more.
func (c *cluster) released(name string) {
	c.Helper()
	c.Eventually("Pod "+name+" is released", func() error {
		pod, err := c.pods.Get(c.Context(), name, metav1.GetOptions{})
		if err == nil && (isTracked(pod) || pod.DeletionTimestamp != nil) {
			err = fmt.Errorf("finalizers %q, deleted %v", pod.Finalizers, pod.DeletionTimestamp)
		}
		return err
	})
}
