package foo_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	appsv1client "k8s.io/client-go/kubernetes/typed/apps/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/clientset"
	"example.com/byhand/controller"
	"example.com/byhand/controller/foo"
	"example.com/byhand/informer"
	"example.com/byhand/internal/tests"
	"example.com/byhand/kit/testkit"
)

const (
	fooPath        = "/apis/samplecontroller.k8s.io/v1alpha1/namespaces/default/foos/"
	deploymentPath = "/apis/apps/v1/namespaces/default/deployments/"
)

var fooKey = cache.NewObjectName("default", "foo")

// world is a reconciler between an API server and two stores. A test decides when a store catches up
// and when a key is reconciled.
type world struct {
	*testing.T
	api               *testkit.APIServer
	foos, deployments cache.Indexer
	events            *events.FakeRecorder
	client            clientset.Interface
	reconciler        *foo.Reconciler
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		T:           t,
		api:         tests.NewAPIServer(),
		foos:        cache.NewIndexer(cache.MetaNamespaceKeyFunc, informer.FooIndexers()),
		deployments: cache.NewIndexer(cache.MetaNamespaceKeyFunc, informer.DeploymentIndexers()),
		events:      events.NewFakeRecorder(100),
	}
	w.client = clientset.NewForConfigOrDie(w.api.Config())
	w.reconciler = &foo.Reconciler{
		Foos:            w.client.SamplecontrollerV1alpha1(),
		Deployments:     appsv1client.NewForConfigOrDie(w.api.Config()),
		FooStore:        w.foos,
		DeploymentStore: w.deployments,
		Events:          w.events,
		Rewrites:        controller.NewRewrites(),
	}
	return w
}

// createFoo stores a Foo in the API server, without validation.
func (w *world) createFoo(name string, spec v1alpha1.FooSpec) *v1alpha1.Foo {
	w.Helper()
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&v1alpha1.Foo{Spec: spec})
	if err != nil {
		w.Fatal(err)
	}
	w.api.Add(fooPath+name, &unstructured.Unstructured{Object: object})
	return w.foo(name)
}

func (w *world) createDeployment(name string, owners ...metav1.OwnerReference) {
	w.Helper()
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", OwnerReferences: owners}}
	if _, err := w.reconciler.Deployments.Deployments("default").Create(context.Background(), deployment, metav1.CreateOptions{}); err != nil {
		w.Fatal(err)
	}
	w.api.Requests()
}

// converged returns a world with one Foo and its Deployment, and synced stores.
func converged(t *testing.T, replicas int32) *world {
	t.Helper()
	w := newWorld(t)
	w.createFoo("foo", v1alpha1.FooSpec{DeploymentName: "deployment", Replicas: &replicas})
	w.syncAndReconcile()
	w.sync()
	w.api.Requests()
	<-w.events.Events
	return w
}

func (w *world) syncFoos() {
	w.Helper()
	fill[v1alpha1.Foo](w, w.foos, "foos")
}

func (w *world) syncDeployments() {
	w.Helper()
	fill[appsv1.Deployment](w, w.deployments, "deployments")
}

func (w *world) sync() {
	w.Helper()
	w.syncFoos()
	w.syncDeployments()
}

func fill[T any](w *world, store cache.Indexer, resource string) {
	w.Helper()
	var objects []any
	for _, stored := range w.api.List(resource) {
		typed := new(T)
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(stored.Object, typed); err != nil {
			w.Fatal(err)
		}
		objects = append(objects, typed)
	}
	if err := store.Replace(objects, w.api.Latest()); err != nil {
		w.Fatal(err)
	}
}

func (w *world) reconcile() time.Duration {
	w.Helper()
	after, err := w.tryReconcile(fooKey)
	if err != nil {
		w.Fatalf("reconcile: %v", err)
	}
	return after
}

func (w *world) syncAndReconcile() {
	w.Helper()
	w.sync()
	w.reconcile()
}

// requeues calls Reconcile, and fails the test unless requeueAfter is want.
func (w *world) requeues(want time.Duration) {
	w.Helper()
	if after := w.reconcile(); after != want {
		w.Errorf("requeue after %s, want %s", after, want)
	}
}

// fails calls Reconcile, and fails the test unless the error matches.
func (w *world) fails(such func(error) bool) {
	w.Helper()
	if _, err := w.tryReconcile(fooKey); !such(err) {
		w.Errorf("the reconcile returns an unexpected error: %v", err)
	}
}

// says matches an error that contains text.
func says(text string) func(error) bool {
	return func(err error) bool { return err != nil && strings.Contains(err.Error(), text) }
}

// tryReconcile fails the test if Reconcile changes an object in a store.
func (w *world) tryReconcile(key cache.ObjectName) (time.Duration, error) {
	w.Helper()
	before := w.contents()
	again, err := w.reconciler.Reconcile(context.Background(), key)
	if diff := cmp.Diff(before, w.contents()); diff != "" {
		w.Errorf("the reconcile changed an object in a store (-before +after):\n%s", diff)
	}
	return again, err
}

// contents returns the objects of the stores as JSON, without DeepCopy.
func (w *world) contents() map[string]string {
	w.Helper()
	contents := map[string]string{}
	for resource, store := range map[string]cache.Indexer{"foos": w.foos, "deployments": w.deployments} {
		for _, key := range store.ListKeys() {
			object, _, _ := store.GetByKey(key)
			text, err := json.Marshal(object)
			if err != nil {
				w.Fatal(err)
			}
			contents[resource+" "+key] = string(text)
		}
	}
	return contents
}

// sent fails the test unless the requests since the last call are want.
func (w *world) sent(want ...string) {
	w.Helper()
	if diff := cmp.Diff(want, w.api.Requests()); diff != "" {
		w.Errorf("requests (-want +got):\n%s", diff)
	}
}

// told fails the test unless the Events since the last call are want.
func (w *world) told(want ...string) {
	w.Helper()
	if diff := cmp.Diff(want, w.recorded()); diff != "" {
		w.Errorf("events (-want +got):\n%s", diff)
	}
}

func (w *world) recorded() (events []string) {
	for len(w.events.Events) > 0 {
		events = append(events, <-w.events.Events)
	}
	return events
}

func (w *world) foo(name string) *v1alpha1.Foo {
	w.Helper()
	return stored[v1alpha1.Foo](w, fooPath+name)
}

func (w *world) deployment(name string) *appsv1.Deployment {
	w.Helper()
	return stored[appsv1.Deployment](w, deploymentPath+name)
}

func stored[T any](w *world, path string) *T {
	w.Helper()
	object := w.api.Get(path)
	if object == nil {
		w.Fatalf("nothing is stored at %s", path)
	}
	typed := new(T)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, typed); err != nil {
		w.Fatal(err)
	}
	return typed
}

// ready fails the test unless the condition Ready of the stored Foo has this reason.
func (w *world) ready(name, reason string) {
	w.Helper()
	foo, want := w.foo(name), metav1.ConditionFalse
	if reason == v1alpha1.ReasonAvailable {
		want = metav1.ConditionTrue
	}
	got := meta.FindStatusCondition(foo.Status.Conditions, v1alpha1.FooReady)
	if got == nil || got.Status != want || got.Reason != reason || len(foo.Status.Conditions) > 1 {
		w.Errorf("Foo %s: its conditions are %+v, want only Ready, %s for %s", name, foo.Status.Conditions, want, reason)
	}
	if foo.Status.ObservedGeneration != foo.Generation {
		w.Errorf("Foo %s: observedGeneration %d, want %d", name, foo.Status.ObservedGeneration, foo.Generation)
	}
}

func (w *world) available(want int32) {
	w.Helper()
	if got := w.foo("foo").Status.AvailableReplicas; got != want {
		w.Errorf("%d available replicas, want %d", got, want)
	}
}

// rollOut makes this many replicas of a Deployment available, and reconciles the Foo.
func (w *world) rollOut(name string, available int64) {
	w.Helper()
	w.set(deploymentPath+name, rolledOut(available), "status")
	w.syncAndReconcile()
	w.sync()
	w.api.Requests()
}

func rolledOut(replicas int64) map[string]any {
	return map[string]any{"replicas": replicas, "updatedReplicas": replicas, "availableReplicas": replicas, "observedGeneration": int64(1)}
}

func (w *world) set(path string, value any, fields ...string) {
	w.Helper()
	w.api.Edit(path, func(object *unstructured.Unstructured) {
		if err := unstructured.SetNestedField(object.Object, value, fields...); err != nil {
			w.Fatal(err)
		}
	})
}
