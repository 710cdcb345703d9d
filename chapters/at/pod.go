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

// podFinalizer keeps a deleted Pod until the status has its result. Without it
// (TestPodEnds):
//
//	0.0 s  The controller creates the Pod and is killed.
//	0.1 s  A user deletes the Pod.
//	0.2 s  The controller starts again. There is no Pod, and the status has no podUID. It
//	       creates a second Pod: the command runs twice.
//
// Jobs have such a finalizer, too: batch.kubernetes.io/job-tracking.
const podFinalizer = "cnat.programming-kubernetes.info/at-tracking"

// releasePatch removes only podFinalizer, from the Pod with this UID. It is a strategic merge
// patch, which built-in kinds support.
const releasePatch = `{"metadata":{"uid":%q,"$deleteFromPrimitiveList/finalizers":["` + podFinalizer + `"]}}`

// maxPodName is the maximum length of a host name, which the Pod's name becomes.
const maxPodName = 63

// podName returns the name of an At's Pod. It depends only on the At's name and UID. So two
// controllers, or a restarted one, cannot create two Pods: the API server rejects the second.
func podName(at *At) string {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(at.UID))
	suffix := "-" + rand.SafeEncodeString(fmt.Sprint(hash.Sum32()))
	// A host name has no dots.
	prefix := strings.ReplaceAll(at.Name, ".", "-")
	return prefix[:min(len(prefix), maxPodName-len(suffix))] + suffix
}

func newPod(at *At) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			// From the status, not from podName: in another release of this program podName may
			// return a different name.
			Name:        at.Status.PodName,
			Namespace:   at.Namespace,
			Labels:      map[string]string{uidLabel: string(at.UID)},
			Annotations: map[string]string{nameAnnotation: at.Name},
			Finalizers:  []string{podFinalizer},
			// The At controls it, so the garbage collector deletes it after the At.
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(at, atKind)},
		},
		// Containers are not restarted. Users who can create Ats may run any image, but get no
		// permissions of a ServiceAccount.
		Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, AutomountServiceAccountToken: new(false)},
	}
	for _, c := range at.Spec.Containers {
		pod.Spec.Containers = append(pod.Spec.Containers,
			corev1.Container{Name: c.Name, Image: c.Image, Command: c.Command, Args: c.Args})
	}
	return pod
}

func isTracked(pod *corev1.Pod) bool { return slices.Contains(pod.Finalizers, podFinalizer) }
