package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// TestPodName: each At has a name of its own that a host can have, and always the same.
func TestPodName(t *testing.T) {
	long := strings.Repeat("a.", 126) + "a"
	taken := map[string]bool{}
	for _, meta := range []metav1.ObjectMeta{{Name: "example", UID: "1"}, {Name: "example", UID: "2"}, {Name: long, UID: "3"}, {Name: long, UID: "4"}} {
		at := &At{ObjectMeta: meta}
		name := podName(at)
		if problems := validation.IsDNS1123Label(name); len(problems) > 0 || taken[name] || podName(at) != name {
			t.Errorf("%s: another Pod has it: %t, then %s, %q", name, taken[name], podName(at), problems)
		}
		taken[name] = true
	}
}

func TestNewPod(t *testing.T) {
	at := &At{
		ObjectMeta: metav1.ObjectMeta{Name: "example", Namespace: "ns", UID: "uid"},
		Spec: AtSpec{Containers: []AtContainer{
			{Name: "one", Image: "image", Command: []string{"echo", "two  spaces"}, Args: []string{""}},
			{Name: "two", Image: "other"},
		}},
		Status: AtStatus{PodName: "example-1"},
	}
	want := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "example-1", Namespace: "ns",
			Labels:      map[string]string{"cnat.programming-kubernetes.info/at-uid": "uid"},
			Annotations: map[string]string{"cnat.programming-kubernetes.info/at": "example"},
			Finalizers:  []string{"cnat.programming-kubernetes.info/at-tracking"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "cnat.programming-kubernetes.info/v1alpha1", Kind: "At", Name: "example", UID: "uid",
				Controller: new(true), BlockOwnerDeletion: new(true)}},
		},
		Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, AutomountServiceAccountToken: new(false), Containers: []corev1.Container{
			{Name: "one", Image: "image", Command: []string{"echo", "two  spaces"}, Args: []string{""}},
			{Name: "two", Image: "other"},
		}},
	}
	if diff := cmp.Diff(want, newPod(at)); diff != "" {
		t.Errorf("Pod (-want +got):\n%s", diff)
	}
}
