package main

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/controller"
)

// TestOrphan: a Pod that has no owner any more changes, and is gone. Each time it adds the key of its
// At. Which requests the informers send is in TestRun.
func TestOrphan(t *testing.T) {
	queue := controller.NewQueue("")
	defer queue.ShutDown()
	orphan := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Annotations: map[string]string{"cnat.programming-kubernetes.info/at": "one"}}}
	handler := enqueueAt(queue)
	for _, event := range []func(){
		func() { handler.OnUpdate(orphan, orphan) },
		func() { handler.OnDelete(cache.DeletedFinalStateUnknown{Obj: orphan}) },
	} {
		event()
		if queue.Len() != 1 {
			t.Fatalf("%d keys are added, want that of the At", queue.Len())
		}
		key, _ := queue.Get()
		if key != cache.NewObjectName("ns", "one") {
			t.Errorf("the key is %s", key)
		}
		queue.Done(key)
	}
}
