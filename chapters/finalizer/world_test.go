package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"example.com/byhand/clientset"
	"example.com/byhand/internal/tests"
	"example.com/byhand/kit/testkit"
)

// world is a reconciler between an API server and a storage. Nothing happens by itself: a
// test decides when the cache catches up and when a key is reconciled.
type world struct {
	*testing.T
	api        *testkit.APIServer
	cache      cache.Indexer
	directory  directory
	storage    *faultyStorage
	events     *record.FakeRecorder
	reconciler *projectReconciler

	// effects counts effects outside the process. At effect killAt the process is killed.
	effects, killAt int
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, api: tests.NewAPIServer(), directory: directory(t.TempDir())}
	w.storage = &faultyStorage{storage: w.directory, step: w.mayDie}
	w.cache = cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	w.events = record.NewFakeRecorder(100)
	w.api.Kill = w.restart
	w.api.OnWrite(func(int, *http.Request) testkit.Fault {
		w.effects += 2
		return map[int]testkit.Fault{w.effects - 1: testkit.KillBefore, w.effects: testkit.KillAfter}[w.killAt]
	})
	w.restart()
	return w
}

func (w *world) restart() {
	w.reconciler = &projectReconciler{
		projects:     clientset.NewForConfigOrDie(w.api.Config()).ExamplesV1alpha1(),
		projectStore: w.cache,
		storage:      w.storage,
		maxVolumes:   4,
		events:       w.events,
	}
}

func (w *world) mayDie() error {
	if w.effects++; w.effects == w.killAt {
		w.restart()
		return errors.New("killed")
	}
	return nil
}

// faultyStorage is a storage that may kill the process before and after each change. While err
// is set, each call returns err.
type faultyStorage struct {
	storage
	step func() error
	err  error
}

func (f *faultyStorage) do(call func() error) error {
	if f.err != nil {
		return f.err
	}
	if err := f.step(); err != nil {
		return err
	}
	if err := call(); err != nil {
		return err
	}
	return f.step()
}

func (f *faultyStorage) Volumes(ctx context.Context, owner types.UID) ([]int, error) {
	volumes, err := f.storage.Volumes(ctx, owner)
	return volumes, errors.Join(err, f.err)
}

func (f *faultyStorage) Create(ctx context.Context, owner types.UID, n int) error {
	return f.do(func() error { return f.storage.Create(ctx, owner, n) })
}

func (f *faultyStorage) Delete(ctx context.Context, owner types.UID, n int) error {
	return f.do(func() error { return f.storage.Delete(ctx, owner, n) })
}

func (f *faultyStorage) DeleteAll(ctx context.Context, owner types.UID) error {
	return f.do(func() error { return f.storage.DeleteAll(ctx, owner) })
}

// uid returns a valid UID that no Project has.
func uid(n int) types.UID { return types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", n)) }

// projects is the path of the Projects. The tests use the Project p.
const projects = "/apis/examples-gzh.com/v1alpha1/namespaces/default/projects/"

// Actions of another client.

func (w *world) create(name string, replicas int64, finalizers ...string) types.UID {
	project := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"replicas": replicas}}}
	project.SetFinalizers(finalizers)
	w.api.Add(projects+name, project)
	return w.api.Get(projects + name).GetUID()
}

func (w *world) change(change func(*unstructured.Unstructured)) { w.api.Edit(projects+"p", change) }

func scaled(replicas int64) func(*unstructured.Unstructured) {
	return func(project *unstructured.Unstructured) {
		project.Object["spec"] = map[string]any{"replicas": replicas}
	}
}

func finalized(finalizers ...string) func(*unstructured.Unstructured) {
	return func(project *unstructured.Unstructured) { project.SetFinalizers(finalizers) }
}

// delete deletes the Project, which may wait for its finalizers.
func (w *world) delete() { w.api.Delete(projects+"p", "") }

func (w *world) sync() {
	w.Helper()
	client := clientset.NewForConfigOrDie(w.api.Config()).ExamplesV1alpha1()
	list, err := client.Projects("default").List(w.Context(), metav1.ListOptions{})
	if err != nil {
		w.Fatal(err)
	}
	var objects []any
	for i := range list.Items {
		objects = append(objects, &list.Items[i])
	}
	if err := w.cache.Replace(objects, list.ResourceVersion); err != nil {
		w.Fatal(err)
	}
}

// reconcile reconciles the Project. If the process is killed, reconcile restarts it.
func (w *world) reconcile() (requeueAfter time.Duration, err error) {
	return w.reconciler.Reconcile(w.Context(), cache.NewObjectName("default", "p"))
}

// must reconciles the Project and expects exactly these requests and no error.
func (w *world) must(want ...string) (requeueAfter time.Duration) {
	w.Helper()
	w.api.Requests()
	requeueAfter, err := w.reconcile()
	if err != nil {
		w.Errorf("reconcile: %v", err)
	}
	if diff := cmp.Diff(want, w.api.Requests()); diff != "" {
		w.Errorf("requests (-want +got):\n%s", diff)
	}
	return requeueAfter
}

// settle syncs and reconciles until nothing changes.
func (w *world) settle() {
	w.Helper()
	for range 20 {
		w.sync()
		before := w.api.Version()
		if again, err := w.reconcile(); err == nil && again == 0 && w.api.Version() == before {
			return
		}
	}
	w.Fatal("the reconcile does not settle")
}

// told checks the Events recorded since the last call.
func (w *world) told(want ...string) {
	w.Helper()
	var got []string
	for len(w.events.Events) > 0 {
		got = append(got, <-w.events.Events)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		w.Errorf("Events (-want +got):\n%s", diff)
	}
}

func (w *world) has(owner types.UID, want ...int) {
	w.Helper()
	got, err := w.directory.Volumes(w.Context(), owner)
	if err != nil || !slices.Equal(got, want) {
		w.Errorf("%s has the volumes %v (%v), want %v", owner, got, err, want)
	}
}

// waitsFor checks the Project's finalizers. Without any, the Project must be gone.
func (w *world) waitsFor(want ...string) {
	w.Helper()
	project := w.api.Get(projects + "p")
	if isGone := project == nil; isGone != (len(want) == 0) || !isGone && !slices.Equal(project.GetFinalizers(), want) {
		w.Errorf("the Project is %v, want the finalizers %q (no finalizers: no Project)", project, want)
	}
}

func (w *world) isEmpty() {
	w.Helper()
	entries, err := os.ReadDir(string(w.directory))
	if err != nil || len(entries) > 0 {
		w.Errorf("the directory has %v (%v), want nothing", entries, err)
	}
}
