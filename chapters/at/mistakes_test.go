package main

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	kubefake "k8s.io/client-go/kubernetes/fake"
)

// copied is the loop of cnat as people copy it, written anew and shortened. Each test below
// shows one mistake in it, and what this chapter does instead.
type copied struct {
	kube                           kubernetes.Interface
	now                            time.Time
	name, schedule, command, phase string // of the At
}

func (c *copied) reconcile(ctx context.Context) (requeueAfter time.Duration, err error) {
	pods := c.kube.CoreV1().Pods("default")
	switch c.phase {
	case "", "PENDING":
		c.phase = "PENDING"
		schedule, err := time.Parse("2006-01-02T15:04:05Z", c.schedule)
		if err != nil {
			return 0, err
		}
		if left := schedule.Sub(c.now); left > 0 {
			return left, nil
		}
		c.phase = "RUNNING"
	case "RUNNING":
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: c.name + "-pod"}, Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyOnFailure,
			Containers:    []corev1.Container{{Name: "busybox", Image: "busybox", Command: strings.Split(c.command, " ")}},
		}}
		found, err := pods.Get(ctx, pod.Name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			_, err = pods.Create(ctx, pod, metav1.CreateOptions{})
			return 0, err
		case err != nil:
			return 0, err
		case found.Status.Phase == corev1.PodFailed || found.Status.Phase == corev1.PodSucceeded:
			c.phase = "DONE"
		}
	}
	return 0, nil
}

// copiedWorld is an At that runs, in the copied loop, over some Pods.
func copiedWorld(pods ...corev1.Pod) *copied {
	return &copied{kube: kubefake.NewClientset(&corev1.PodList{Items: pods}), now: noon,
		name: "example", schedule: "2026-01-02T12:00:00Z", command: "echo", phase: "RUNNING"}
}

func (c *copied) mustReconcile(t *testing.T) {
	t.Helper()
	if _, err := c.reconcile(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// The layout "2006-01-02T15:04:05Z" has a Z that stands for itself: no offset is understood.
func TestMistakeLiteralZ(t *testing.T) {
	c := copiedWorld()
	c.phase, c.schedule = "", "2026-01-02T13:30:00+01:00"
	if _, err := c.reconcile(t.Context()); err == nil {
		t.Error("the copied loop understands an offset")
	}
	w := newWorld(t)
	w.create(c.schedule)
	if again := w.reconcile("PUT ats/example/status"); again != 30*time.Minute {
		t.Errorf("look again after %s, want 30m", again)
	}
}

// A schedule that is no time is an error, which the queue retries for ever. Nobody is told.
func TestMistakeRetriedForEver(t *testing.T) {
	c := copiedWorld()
	c.phase, c.schedule = "", "tomorrow"
	for range 3 {
		if _, err := c.reconcile(t.Context()); err == nil || c.phase != "PENDING" {
			t.Errorf("the copied loop ends in %s: %v", c.phase, err)
		}
	}
	w := newWorld(t)
	w.create(c.schedule)
	w.reconcile("PUT ats/example/status")
	w.is(PhaseFailed, ReasonInvalidSchedule)
	w.reconcile()
}

// Whoever has a Pod of that name decides whether the At is done.
func TestMistakeForeignPod(t *testing.T) {
	foreign := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "example-pod"}, Status: corev1.PodStatus{Phase: corev1.PodSucceeded}}
	c := copiedWorld(foreign)
	if c.mustReconcile(t); c.phase != "DONE" {
		t.Errorf("the copied loop ends in %s", c.phase)
	}
	w := claimed(t)
	foreign.Name = w.at().Status.PodName
	w.add(w.podPath(), &foreign)
	w.reconcile("GET ats/example", "POST pods", "GET "+w.podPath(), "PUT ats/example/status")
	w.is(PhaseFailed, ReasonNameTaken)
}

// A Pod that is deleted, by a drain of its node perhaps, runs a second time.
func TestMistakeRunAgain(t *testing.T) {
	c := copiedWorld()
	creates := 0
	for range 2 {
		c.mustReconcile(t)
		pods := c.kube.CoreV1().Pods("default")
		if err := pods.Delete(t.Context(), "example-pod", metav1.DeleteOptions{}); err == nil {
			creates++
		}
	}
	if creates != 2 {
		t.Errorf("the copied loop creates %d Pods", creates)
	}
	w := running(t)
	w.delete(w.podPath())
	w.reconcile("PUT ats/example/status")
	w.is(PhaseFailed, ReasonPodDeleted)
	w.reconcile("PATCH " + w.podPath())
	w.reconcile()
}

// A Pod that has failed is DONE.
func TestMistakeFailedIsDone(t *testing.T) {
	c := copiedWorld(corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "example-pod"}, Status: corev1.PodStatus{Phase: corev1.PodFailed}})
	if c.mustReconcile(t); c.phase != "DONE" {
		t.Errorf("the copied loop ends in %s", c.phase)
	}
	w := running(t)
	w.set(w.podPath(), "Failed", "status", "phase")
	w.reconcile("PUT ats/example/status")
	w.is(PhaseFailed, ReasonPodFailed)
}

// A command that is split at spaces is another command: quotes are no quotes, and two spaces
// are an empty argument.
func TestMistakeSplit(t *testing.T) {
	c := copiedWorld()
	c.command = "sh -c 'echo  hello'"
	c.mustReconcile(t)
	pod, err := c.kube.CoreV1().Pods("default").Get(t.Context(), "example-pod", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"sh", "-c", "'echo", "", "hello'"}, pod.Spec.Containers[0].Command); diff != "" {
		t.Errorf("command of the copied loop (-want +got):\n%s", diff)
	}
	want := []string{"sh", "-c", "echo  hello"}
	at := &At{Spec: AtSpec{Containers: []AtContainer{{Name: "main", Command: want}}}}
	if got := newPod(at).Spec.Containers[0].Command; !slices.Equal(got, want) {
		t.Errorf("command %q, want %q", got, want)
	}
}
