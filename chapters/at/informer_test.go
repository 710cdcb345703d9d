package main

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/controller"
	"example.com/byhand/informer"
	"example.com/byhand/internal/testkit/quiet"
	"example.com/byhand/kit/testkit"
)

// synced runs an informer until its first list is in the store.
func synced(t *testing.T, i *informer.Informer) *informer.Informer {
	t.Helper()
	ctx, cancel := context.WithCancel(quiet.Context(t))
	done := make(chan struct{})
	go func() {
		defer close(done)
		i.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	if err := informer.WaitForSync(ctx, 30*time.Second, i); err != nil {
		t.Fatal(err)
	}
	return i
}

// atResource is what the API server in memory has to know of Ats.
var atResource = testkit.Resource{GroupVersionKind: SchemeGroupVersion.WithKind("At"), Plural: "ats", Status: true, Generation: true}

// TestAtInformer: it asks for one namespace or for all, and fills the store.
func TestAtInformer(t *testing.T) {
	const version = "/apis/cnat.programming-kubernetes.info/v1alpha1"
	for namespace, path := range map[string]string{"": version + "/ats", "default": version + "/namespaces/default/ats"} {
		api := testkit.NewAPIServer(atResource)
		api.Add(version+"/namespaces/default/ats/one", &unstructured.Unstructured{Object: map[string]any{}})
		client, err := NewClient(api.Config())
		if err != nil {
			t.Fatal(err)
		}
		i := synced(t, NewAts(client, namespace, 0, cache.ResourceEventHandlerFuncs{}))
		if _, ok := get[*At](i.Store, cache.NewObjectName("default", "one")); !ok {
			t.Errorf("the store has %q", i.Store.ListKeys())
		}
		for _, request := range api.Log() {
			if request.Path != path {
				t.Errorf("%s %s, want %s", request.Method, request.Path, path)
			}
		}
	}
}

// TestPodInformer: of all Pods it has those of Ats, and finds them by their At.
func TestPodInformer(t *testing.T) {
	api := testkit.NewAPIServer()
	for pod, at := range map[string]string{"a": "one", "b": "two", "others": "one"} {
		object := &unstructured.Unstructured{Object: map[string]any{}}
		object.SetAnnotations(map[string]string{nameAnnotation: at})
		if pod != "others" {
			object.SetLabels(map[string]string{uidLabel: "uid"})
		}
		api.Add("/api/v1/namespaces/default/pods/"+pod, object)
	}
	client := kubernetes.NewForConfigOrDie(api.Config())
	i := synced(t, NewPods(client, "", cache.ResourceEventHandlerFuncs{}))
	if n := len(i.Store.ListKeys()); n != 2 {
		t.Errorf("%d Pods in the store, want 2", n)
	}
	if pods := podsOf(i.Store, cache.NewObjectName("default", "one")); len(pods) != 1 || pods[0].Name != "a" {
		t.Errorf("Pods of one: %v", pods)
	}
	// An orphan has no owner, and its phase changes.
	orphan, _ := get[*corev1.Pod](i.Store, cache.NewObjectName("default", "b"))
	queue := controller.NewPriorityQueue("")
	defer queue.ShutDown()
	succeeded := orphan.DeepCopy()
	succeeded.Status.Phase = corev1.PodSucceeded
	enqueueAt(queue).OnUpdate(orphan, succeeded)
	if queue.Len() != 1 {
		t.Fatalf("%d keys are added, want that of the At of b", queue.Len())
	}
	if key, _ := queue.Get(); key != cache.NewObjectName("default", "two") {
		t.Errorf("the At of b: %s", key)
	}
}
