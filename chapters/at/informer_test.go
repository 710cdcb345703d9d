package main

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/controller"
)

// TestOrphan: the phase of a Pod changes that has no owner any more. It adds the key of its At. Which
// requests the informers send is in TestRun.
func TestOrphan(t *testing.T) {
	queue := controller.NewPriorityQueue("")
	defer queue.ShutDown()
	orphan := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Annotations: map[string]string{"cnat.programming-kubernetes.info/at": "one"}}}
	succeeded := orphan.DeepCopy()
	succeeded.Status.Phase = corev1.PodSucceeded
	enqueueAt(queue).OnUpdate(orphan, succeeded)
	if queue.Len() != 1 {
		t.Fatalf("%d keys are added, want that of the At", queue.Len())
	}
	if key, _ := queue.Get(); key != cache.NewObjectName("ns", "one") {
		t.Errorf("the key is %s", key)
	}
}
