package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"example.com/byhand/api/examples-gzh.com/v1alpha1"
	"example.com/byhand/clientset"
	"example.com/byhand/kit/testkit"
)

// world is a reconciler between an API server and a storage. Nothing moves by itself: a
// test says when the cache catches up and when a key is reconciled.
type world struct {
	*testing.T
	api        *testkit.APIServer
	projects   clientset.ProjectInterface // of another client
	requests   []string                   // of the process
	cache      cache.Indexer
	directory  directory
	storage    *faultyStorage
	events     *record.FakeRecorder
	reconciler *projectReconciler

	// effects counts what has an effect outside the process. At number killAt it is killed.
	effects, killAt int
}

// errKilled is how a step ends, and with it the call of Reconcile.
var errKilled = errors.New("killed")

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, api: testkit.NewAPIServer(), directory: directory(t.TempDir())}
	w.projects = clientset.NewForConfigOrDie(w.api.Config()).ExamplesV1alpha1().Projects("default")
	w.storage = &faultyStorage{storage: w.directory, step: w.mayDie}
	w.cache = cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	w.events = record.NewFakeRecorder(100)
	w.restart()
	return w
}

// restart makes a new process: it remembers nothing.
func (w *world) restart() {
	config := w.api.Config()
	config.Transport = w
	w.reconciler = &projectReconciler{
		projects:     clientset.NewForConfigOrDie(config).ExamplesV1alpha1(),
		projectStore: w.cache,
		storage:      w.storage,
		maxVolumes:   10,
		events:       w.events,
	}
}

// mayDie may kill the process.
func (w *world) mayDie() error {
	if w.effects++; w.effects == w.killAt {
		return errKilled
	}
	return nil
}

// RoundTrip sends a request of the process, which may be killed before and after a patch.
func (w *world) RoundTrip(r *http.Request) (*http.Response, error) {
	request, network := r.Method+" "+testkit.TargetOf(r.URL.Path).String(), testkit.Transport{Handler: w.api}
	if r.Method != http.MethodPatch {
		w.requests = append(w.requests, request)
		return network.RoundTrip(r)
	}
	body, _ := r.GetBody() // It is in memory: reading it does not fail.
	patch, _ := io.ReadAll(body)
	w.requests = append(w.requests, request+" "+string(patch))
	if err := w.mayDie(); err != nil {
		return nil, err
	}
	response, err := network.RoundTrip(r)
	if killed := w.mayDie(); killed != nil {
		return nil, killed
	}
	return response, err
}

// uid returns one as the API server gives them. No Project has it.
func uid(n int) types.UID { return types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", n)) }

// What another client of the API server does.

// create creates a Project.
func (w *world) create(name string, replicas int32, finalizers ...string) *v1alpha1.Project {
	w.Helper()
	project := &v1alpha1.Project{
		ObjectMeta: metav1.ObjectMeta{Name: name, Finalizers: finalizers},
		Spec:       v1alpha1.ProjectSpec{Replicas: replicas},
	}
	created, err := w.projects.Create(w.Context(), project, metav1.CreateOptions{})
	if err != nil {
		w.Fatal(err)
	}
	return created
}

// project returns the Project as the API server has it, nil for none.
func (w *world) project(name string) *v1alpha1.Project {
	w.Helper()
	project, err := w.projects.Get(w.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		w.Fatal(err)
	}
	return project
}

// change changes a Project.
func (w *world) change(name string, change func(*v1alpha1.Project)) {
	w.Helper()
	project := w.project(name)
	change(project)
	if _, err := w.projects.Update(w.Context(), project, metav1.UpdateOptions{}); err != nil {
		w.Fatal(err)
	}
}

func scaled(replicas int32) func(*v1alpha1.Project) {
	return func(project *v1alpha1.Project) { project.Spec.Replicas = replicas }
}

func finalized(finalizers ...string) func(*v1alpha1.Project) {
	return func(project *v1alpha1.Project) { project.Finalizers = finalizers }
}

// delete deletes a Project: it is gone, or it waits for its finalizers.
func (w *world) delete(name string) {
	w.Helper()
	if err := w.projects.Delete(w.Context(), name, metav1.DeleteOptions{}); err != nil {
		w.Fatal(err)
	}
}

// sync brings the cache up to date, as the informer does.
func (w *world) sync() {
	w.Helper()
	list, err := w.projects.List(w.Context(), metav1.ListOptions{})
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

// reconcile reconciles a Project. If the process is killed on the way, there is a new one.
func (w *world) reconcile(name string) (requeueAfter time.Duration, err error) {
	requeueAfter, err = w.reconciler.Reconcile(w.Context(), cache.NewObjectName("default", name))
	if errors.Is(err, errKilled) {
		w.restart()
	}
	return requeueAfter, err
}

// must reconciles a Project, without an error.
func (w *world) must(name string) (requeueAfter time.Duration) {
	w.Helper()
	requeueAfter, err := w.reconcile(name)
	if err != nil {
		w.Errorf("reconcile: %v", err)
	}
	return requeueAfter
}

// step syncs and reconciles a Project, which must send these requests and no others.
func (w *world) step(name string, want ...string) {
	w.Helper()
	w.sync()
	w.requests = nil
	w.must(name)
	w.sent(want...)
}

// settle syncs and reconciles until nothing happens any more.
func (w *world) settle(name string) {
	w.Helper()
	for range 20 {
		w.sync()
		before := w.api.Version()
		if again, err := w.reconcile(name); err == nil && again == 0 && w.api.Version() == before {
			return
		}
	}
	w.Fatal("the reconcile does not come to an end")
}

// sent checks what was sent to the API server since the last call.
func (w *world) sent(want ...string) {
	w.Helper()
	if diff := cmp.Diff(want, w.requests); diff != "" {
		w.Errorf("requests (-want +got):\n%s", diff)
	}
	w.requests = nil
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
	if err != nil {
		w.Error(err)
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		w.Errorf("%s has the volumes %v, want %v", owner, got, want)
	}
}

// waitsFor checks the finalizers of Project p, which is gone if it should have none.
func (w *world) waitsFor(want ...string) {
	w.Helper()
	project := w.project("p")
	if isGone := project == nil; isGone != (len(want) == 0) || !isGone && !slices.Equal(project.Finalizers, want) {
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
