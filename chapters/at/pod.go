package main

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
)

// podFinalizer keeps a Pod that a person deletes until the status says what came of it.
// Without it (TestPodEnds):
//
//	0.0 s  The controller creates the Pod and is killed.
//	0.1 s  A person deletes the Pod.
//	0.2 s  The controller starts again. There is no Pod, and no podUID in the status. It
//	       creates a second one: the command runs twice.
//
// Jobs have such a finalizer, too: batch.kubernetes.io/job-tracking.
const podFinalizer = "cnat.programming-kubernetes.info/at-tracking"

// releasePatch removes podFinalizer and no other, from the Pod with this UID and no other. It
// is a strategic merge patch, which the kinds of Kubernetes itself understand.
const releasePatch = `{"metadata":{"uid":%q,"$deleteFromPrimitiveList/finalizers":["` + podFinalizer + `"]}}`

// maxPodName is the length of a host name, which the Pod's name becomes.
const maxPodName = 63

// podName returns the name of an At's Pod. It depends on nothing but the name and the UID of
// the At, so two controllers, or one that has forgotten, cannot create two Pods: the API
// server refuses the second.
func podName(at *At) string {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(at.UID))
	suffix := "-" + rand.SafeEncodeString(fmt.Sprint(hash.Sum32()))
	// A host name has no dots.
	prefix := strings.ReplaceAll(at.Name, ".", "-")
	return prefix[:min(len(prefix), maxPodName-len(suffix))] + suffix
}

// newPod returns the Pod to create for an At.
func newPod(at *At) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			// What the status says, not podName: another version of this program may have
			// another podName.
			Name:        at.Status.PodName,
			Namespace:   at.Namespace,
			Labels:      map[string]string{uidLabel: string(at.UID)},
			Annotations: map[string]string{nameAnnotation: at.Name},
			Finalizers:  []string{podFinalizer},
			// The At controls it, and the garbage collector deletes it after the At.
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(at, atKind)},
		},
		// A container that has ended is not started again. Who may create Ats may run any image, and
		// not with a ServiceAccount's rights.
		Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, AutomountServiceAccountToken: new(false)},
	}
	for _, c := range at.Spec.Containers {
		pod.Spec.Containers = append(pod.Spec.Containers,
			corev1.Container{Name: c.Name, Image: c.Image, Command: c.Command, Args: c.Args})
	}
	return pod
}

// isTracked reports whether a Pod has podFinalizer.
func isTracked(pod *corev1.Pod) bool { return slices.Contains(pod.Finalizers, podFinalizer) }
