package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"example.com/byhand/api/examples-gzh.com/v1alpha1"
	"example.com/byhand/clientset/fake"
)

var (
	projectResource = v1alpha1.SchemeGroupVersion.WithResource("projects")
	projectKind     = v1alpha1.SchemeGroupVersion.WithKind("Project")
)

// world is a reconciler between an API server and a storage. Nothing moves by itself: a
// test says when the cache catches up and when a key is reconciled.
type world struct {
	*testing.T
	server     *fake.Clientset
	cache      cache.Indexer
	directory  directory
	storage    *faultyStorage
	events     *record.FakeRecorder
	reconciler *projectReconciler

	version, uids int
	// steps counts what has an effect outside the process. At step killAt it is killed.
	steps, killAt int
}

// errKilled is what a step panics with.
var errKilled = errors.New("killed")

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, server: fake.NewClientset(), directory: directory(t.TempDir())}
	w.storage = &faultyStorage{storage: w.directory, step: w.step}
	w.server.PrependReactor("patch", "projects", w.patch)
	w.cache = cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	w.events = record.NewFakeRecorder(100)
	w.restart()
	return w
}

// restart makes a new process: it remembers nothing.
func (w *world) restart() {
	w.reconciler = &projectReconciler{
		projects:     w.server.ExamplesV1alpha1(),
		projectStore: w.cache,
		storage:      w.storage,
		maxVolumes:   10,
		events:       w.events,
	}
}

// step may kill the process.
func (w *world) step() {
	if w.steps++; w.steps == w.killAt {
		panic(errKilled)
	}
}

// patch does what the tracker of the fake does not: a failed test is a 422, each write
// makes a new version, and a Project that is being deleted goes with its last finalizer.
func (w *world) patch(action clienttesting.Action) (bool, runtime.Object, error) {
	w.step()
	_, object, err := clienttesting.ObjectReaction(w.server.Tracker())(action)
	if apierrors.IsNotFound(err) {
		return true, nil, err
	}
	if err != nil {
		return true, nil, apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", err.Error(), 0, false)
	}
	project := object.(*v1alpha1.Project)
	w.put(project)
	w.step()
	return true, project, nil
}

// put stores what a Project is like now.
func (w *world) put(project *v1alpha1.Project) {
	w.Helper()
	w.version++
	project.ResourceVersion = strconv.Itoa(w.version)
	err := w.server.Tracker().Update(projectResource, project, project.Namespace)
	if err == nil && project.DeletionTimestamp != nil && len(project.Finalizers) == 0 {
		err = w.server.Tracker().Delete(projectResource, project.Namespace, project.Name)
	}
	if err != nil {
		w.Fatal(err)
	}
}

// create creates a Project in namespace default. Its UID is new.
func (w *world) create(name string, replicas int32, finalizers ...string) *v1alpha1.Project {
	w.Helper()
	w.uids++
	project := &v1alpha1.Project{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: uid(w.uids), Finalizers: finalizers},
		Spec:       v1alpha1.ProjectSpec{Replicas: replicas},
	}
	if err := w.server.Tracker().Add(project); err != nil {
		w.Fatal(err)
	}
	w.put(project)
	return project
}

// uid returns one as the API server gives them.
func uid(n int) types.UID { return types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", n)) }

// project returns the Project as the API server has it, nil for none.
func (w *world) project(name string) *v1alpha1.Project {
	w.Helper()
	object, err := w.server.Tracker().Get(projectResource, "default", name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		w.Fatal(err)
	}
	return object.(*v1alpha1.Project)
}

// change changes a Project as somebody else does.
func (w *world) change(name string, change func(*v1alpha1.Project)) {
	w.Helper()
	project := w.project(name)
	change(project)
	w.put(project)
}

func scaled(replicas int32) func(*v1alpha1.Project) {
	return func(project *v1alpha1.Project) { project.Spec.Replicas = replicas }
}

// deleted deletes a Project: it is gone, or it waits for its finalizers.
func deleted(project *v1alpha1.Project) {
	project.DeletionTimestamp = &metav1.Time{Time: time.Unix(1e9, 0)}
}

// forced removes every finalizer, as people do who want a Project gone.
func forced(project *v1alpha1.Project) { project.Finalizers = nil }

// sync brings the cache up to date, as the informer does.
func (w *world) sync() {
	w.Helper()
	list, err := w.server.Tracker().List(projectResource, projectKind, "")
	if err != nil {
		w.Fatal(err)
	}
	var objects []any
	for i := range list.(*v1alpha1.ProjectList).Items {
		objects = append(objects, &list.(*v1alpha1.ProjectList).Items[i])
	}
	if err := w.cache.Replace(objects, strconv.Itoa(w.version)); err != nil {
		w.Fatal(err)
	}
}

// reconcile reconciles a Project. isKilled says that the process was killed on the way;
// then there is a new one.
func (w *world) reconcile(name string) (requeueAfter time.Duration, isKilled bool, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			if reason != any(errKilled) {
				panic(reason)
			}
			w.restart()
			isKilled = true
		}
	}()
	requeueAfter, err = w.reconciler.Reconcile(context.Background(), cache.NewObjectName("default", name))
	return requeueAfter, false, err
}

// must reconciles a Project, without an error.
func (w *world) must(name string) (requeueAfter time.Duration) {
	w.Helper()
	requeueAfter, _, err := w.reconcile(name)
	if err != nil {
		w.Errorf("reconcile: %v", err)
	}
	return requeueAfter
}

// settle syncs and reconciles until nothing happens any more.
func (w *world) settle(name string) {
	w.Helper()
	for range 20 {
		w.sync()
		before := w.version
		if again, isKilled, err := w.reconcile(name); err == nil && again == 0 && !isKilled && w.version == before {
			return
		}
	}
	w.Fatal("the reconcile does not come to an end")
}

// sent checks what was sent to the API server since the last call.
func (w *world) sent(want ...string) {
	w.Helper()
	var got []string
	for _, action := range w.server.Actions() {
		text := action.GetVerb()
		switch action := action.(type) {
		case clienttesting.PatchAction:
			text += " " + action.GetName() + " " + string(action.GetPatch())
		case clienttesting.GetAction:
			text += " " + action.GetName()
		}
		got = append(got, text)
	}
	w.server.ClearActions()
	if diff := cmp.Diff(want, got); diff != "" {
		w.Errorf("requests (-want +got):\n%s", diff)
	}
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

// isEmpty checks that nothing is in the directory.
func (w *world) isEmpty() {
	w.Helper()
	entries, err := os.ReadDir(string(w.directory))
	if err != nil || len(entries) > 0 {
		w.Errorf("the directory has %v (%v), want nothing", entries, err)
	}
}
