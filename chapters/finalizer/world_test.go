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

// world is a reconciler between an API server and a storage. Nothing moves by itself: a
// test says when the cache catches up and when a key is reconciled.
type world struct {
	*testing.T
	api        *testkit.APIServer
	cache      cache.Indexer
	directory  directory
	storage    *faultyStorage
	events     *record.FakeRecorder
	reconciler *projectReconciler

	// effects counts what has an effect outside the process. At number killAt it is killed.
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

// restart makes a new process: it remembers nothing.
func (w *world) restart() {
	w.reconciler = &projectReconciler{
		projects:     clientset.NewForConfigOrDie(w.api.Config()).ExamplesV1alpha1(),
		projectStore: w.cache,
		storage:      w.storage,
		maxVolumes:   4,
		events:       w.events,
	}
}

// mayDie may kill the process.
func (w *world) mayDie() error {
	if w.effects++; w.effects == w.killAt {
		w.restart()
		return errors.New("killed")
	}
	return nil
}

// faultyStorage is a storage with which a process may be killed, before and after each
// call that changes something. While err is set each call returns it.
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

// uid returns one as the API server gives them. No Project has it.
func uid(n int) types.UID { return types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", n)) }

// projects is where the Projects are. That with which the tests work is p.
const projects = "/apis/examples-gzh.com/v1alpha1/namespaces/default/projects/"

// What another client of the API server does.

// create creates a Project and returns its UID.
func (w *world) create(name string, replicas int64, finalizers ...string) types.UID {
	project := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"replicas": replicas}}}
	project.SetFinalizers(finalizers)
	w.api.Add(projects+name, project)
	return w.api.Get(projects + name).GetUID()
}

// change changes the Project.
func (w *world) change(change func(*unstructured.Unstructured)) { w.api.Edit(projects+"p", change) }

func scaled(replicas int64) func(*unstructured.Unstructured) {
	return func(project *unstructured.Unstructured) {
		project.Object["spec"] = map[string]any{"replicas": replicas}
	}
}

func finalized(finalizers ...string) func(*unstructured.Unstructured) {
	return func(project *unstructured.Unstructured) { project.SetFinalizers(finalizers) }
}

// delete deletes the Project: it is gone, or it waits for its finalizers.
func (w *world) delete() { w.api.Delete(projects+"p", "") }

// sync brings the cache up to date, as the informer does.
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

// reconcile reconciles the Project. If the process is killed on the way, there is a new one.
func (w *world) reconcile() (requeueAfter time.Duration, err error) {
	return w.reconciler.Reconcile(w.Context(), cache.NewObjectName("default", "p"))
}

// must reconciles the Project, without an error and with these requests.
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

// settle syncs and reconciles until nothing happens any more.
func (w *world) settle() {
	w.Helper()
	for range 20 {
		w.sync()
		before := w.api.Version()
		if again, err := w.reconcile(); err == nil && again == 0 && w.api.Version() == before {
			return
		}
	}
	w.Fatal("the reconcile does not come to an end")
}

// told checks which Events were recorded since the last call.
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

// has checks the volumes of an owner.
func (w *world) has(owner types.UID, want ...int) {
	w.Helper()
	got, err := w.directory.Volumes(w.Context(), owner)
	if err != nil || !slices.Equal(got, want) {
		w.Errorf("%s has the volumes %v (%v), want %v", owner, got, err, want)
	}
}

// waitsFor checks the finalizers of the Project, which is gone if it should have none.
func (w *world) waitsFor(want ...string) {
	w.Helper()
	project := w.api.Get(projects + "p")
	if isGone := project == nil; isGone != (len(want) == 0) || !isGone && !slices.Equal(project.GetFinalizers(), want) {
		w.Errorf("the Project is %v, want one with the finalizers %q or none", project, want)
	}
}

// isEmpty checks that nothing is in the directory.
func (w *world) isEmpty() {
	w.Helper()
	entries, err := os.ReadDir(string(w.directory))
	if err != nil || len(entries) > 0 {
		w.Errorf("the directory has %v (%v), want nothing", entries, err)
	}
}
