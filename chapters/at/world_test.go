package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/kit/testkit"
)

// world is a Reconciler between an API server and two stores. Nothing happens by itself: a test
// sets the time, and decides when a store catches up and when the key is reconciled.
type world struct {
	*testing.T
	*Reconciler
	api *testkit.APIServer
	now time.Time
}

var (
	exampleKey = cache.NewObjectName("default", "example")
	noon       = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
)

const putStatus = "PUT ats/example/status"

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, now: noon, api: testkit.NewAPIServer(parts.Resource(t))}
	w.restart()
	return w
}

func (w *world) restart() {
	w.Helper()
	config := w.api.Config()
	client, err := NewClient(config)
	if err != nil {
		w.Fatal(err)
	}
	w.Reconciler = &Reconciler{Client: client, Pods: corev1client.NewForConfigOrDie(config),
		AtStore:  cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{}),
		PodStore: cache.NewIndexer(cache.MetaNamespaceKeyFunc, podIndexers()),
		Now:      func() time.Time { return w.now }}
}

// create creates the At "example", optionally with a deadline, and syncs the stores.
func (w *world) create(schedule string, deadline ...int64) {
	w.Helper()
	at := &At{ObjectMeta: metav1.ObjectMeta{Name: "example", Namespace: "default"},
		Spec: AtSpec{Schedule: schedule, Containers: []AtContainer{{Name: "main", Image: "image"}}}}
	for _, seconds := range deadline {
		at.Spec.StartingDeadlineSeconds = &seconds
	}
	w.add("ats/example", at)
	w.sync()
}

// claimed returns a world with an At that is RUNNING and has no Pod.
func claimed(t *testing.T, deadline ...int64) *world {
	t.Helper()
	w := newWorld(t)
	w.create("2026-01-02T12:00:00Z", deadline...)
	w.becomes(PhaseRunning, "", putStatus)
	return w
}

// running returns a world with an At that has its Pod, with nothing left to do.
func running(t *testing.T, deadline ...int64) *world {
	t.Helper()
	w := claimed(t, deadline...)
	w.reconcile("GET ats/example", "POST pods", putStatus)
	w.reconcile()
	return w
}

func (w *world) at() *At {
	w.Helper()
	return stored[At](w, "ats/example")
}

func (w *world) podPath() string {
	w.Helper()
	return "pods/" + w.at().Status.PodName
}

// url returns the URL of an object such as "ats/example".
func url(path string) string {
	if strings.HasPrefix(path, "ats/") {
		return "/apis/" + SchemeGroupVersion.String() + "/namespaces/default/" + path
	}
	return "/api/v1/namespaces/default/" + path
}

func stored[T any](w *world, path string) *T {
	w.Helper()
	object := w.api.Get(url(path))
	if object == nil {
		w.Fatalf("%s does not exist", path)
	}
	return typed[T](w, object)
}

func typed[T any](w *world, object *unstructured.Unstructured) *T {
	w.Helper()
	typed := new(T)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, typed); err != nil {
		w.Fatal(err)
	}
	return typed
}

// sync updates both stores, as the informers do.
func (w *world) sync() {
	w.Helper()
	w.syncAts()
	w.syncPods()
}

func (w *world) syncAts()  { w.Helper(); replace[At](w, w.AtStore, "ats") }
func (w *world) syncPods() { w.Helper(); replace[corev1.Pod](w, w.PodStore, "pods") }

func replace[T any](w *world, store cache.Indexer, resource string) {
	w.Helper()
	var objects []any
	for _, object := range w.api.List(resource) {
		if resource == "pods" && object.GetLabels()[uidLabel] == "" {
			continue // the informer's selector
		}
		objects = append(objects, typed[T](w, object))
	}
	if err := store.Replace(objects, w.api.Latest()); err != nil {
		w.Fatal(err)
	}
}

// reconcile syncs the stores and reconciles. The reconcile must succeed and send exactly these
// requests. It returns the requeue delay.
func (w *world) reconcile(want ...string) time.Duration {
	w.Helper()
	w.sync()
	return w.reconcileStale(want...)
}

func (w *world) becomes(phase Phase, reason Reason, want ...string) time.Duration {
	w.Helper()
	again := w.reconcile(want...)
	w.is(phase, reason)
	return again
}

func (w *world) reconcileStale(want ...string) time.Duration {
	w.Helper()
	again, err := w.tryReconcile(want...)
	if err != nil {
		w.Fatalf("reconcile: %v", err)
	}
	return again
}

func (w *world) tryReconcile(want ...string) (time.Duration, error) {
	w.Helper()
	w.api.Requests()
	before := w.contents()
	again, err := w.Reconcile(w.Context(), exampleKey)
	if diff := cmp.Diff(want, w.api.Requests()); diff != "" {
		w.Errorf("requests (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, w.contents()); diff != "" {
		w.Errorf("the reconcile changed an object in a store (-before +after):\n%s", diff)
	}
	return again, err
}

func (w *world) contents() string {
	text, err := json.Marshal([]any{w.AtStore.List(), w.PodStore.List()})
	if err != nil {
		w.Fatal(err)
	}
	return string(text)
}

func (w *world) is(phase Phase, reason Reason) {
	w.Helper()
	if got := w.at().Status; got.Phase != phase || got.Reason != reason {
		w.Errorf("%s %s %q, want %s %s", got.Phase, got.Reason, got.Message, phase, reason)
	}
}

func (w *world) add(path string, object any) {
	w.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		w.Fatal(err)
	}
	w.api.Add(url(path), &unstructured.Unstructured{Object: content})
}

func (w *world) set(path string, value any, fields ...string) {
	w.Helper()
	w.api.Edit(url(path), func(object *unstructured.Unstructured) {
		if err := unstructured.SetNestedField(object.Object, value, fields...); err != nil {
			w.Error(err)
		}
	})
}

// delete deletes an object, like another client. An object with finalizers stays.
func (w *world) delete(path string) { w.api.Delete(url(path), "") }

// end sets the Pod to succeeded and reconciles until the status shows it.
func (w *world) end() {
	w.Helper()
	w.set(w.podPath(), "Succeeded", "status", "phase")
	w.becomes(PhaseDone, "", putStatus)
	w.sync()
}
