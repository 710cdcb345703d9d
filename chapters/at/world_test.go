package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// world is a Reconciler between an API server and two stores. Nothing moves by itself: a test
// says what time it is, when a store catches up and when the key is reconciled.
type world struct {
	*testing.T
	*Reconciler
	api *apiServer
	now time.Time
}

var (
	exampleKey = cache.NewObjectName("default", "example")
	noon       = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
)

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, now: noon, api: &apiServer{t: t, version: 100, objects: map[string]*unstructured.Unstructured{}}}
	// Clients reach the server without a socket.
	config := &rest.Config{Host: "http://api.test", Transport: w.api, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: runtime.ContentTypeJSON}}
	client, err := NewClient(config)
	if err != nil {
		t.Fatal(err)
	}
	w.Reconciler = &Reconciler{Client: client, Pods: corev1client.NewForConfigOrDie(config),
		AtStore:  cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{}),
		PodStore: cache.NewIndexer(cache.MetaNamespaceKeyFunc, podIndexers()),
		Now:      func() time.Time { return w.now }}
	w.Writes.Now = w.Now
	return w
}

// create stores the At "example", and lets the stores show it.
func (w *world) create(schedule string, change ...func(*At)) *At {
	w.Helper()
	at := &At{ObjectMeta: metav1.ObjectMeta{Name: "example", Namespace: "default"},
		Spec: AtSpec{Schedule: schedule, Containers: []AtContainer{{Name: "main", Image: "image"}}}}
	for _, change := range change {
		change(at)
	}
	w.api.put("ats/example", toUnstructured(w.T, at))
	w.sync()
	return w.at()
}

// running is a world with an At that has its Pod, with nothing left to do.
func running(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.create("2026-01-02T12:00:00Z")
	w.reconcile("PUT ats/example/status")
	w.reconcile("GET ats/example", "POST pods", "PUT ats/example/status")
	w.reconcile()
	return w
}

func deadline(seconds int64) func(*At) {
	return func(at *At) { at.Spec.StartingDeadlineSeconds = &seconds }
}

// at returns the At as the server has it.
func (w *world) at() *At {
	w.Helper()
	return stored[At](w, "ats/example")
}

// pod returns the At's Pod as the server has it.
func (w *world) pod() *corev1.Pod {
	w.Helper()
	return stored[corev1.Pod](w, w.podPath())
}

func (w *world) podPath() string {
	w.Helper()
	return "pods/" + w.at().Status.PodName
}

func stored[T any](w *world, path string) *T {
	w.Helper()
	typed := new(T)
	object := w.api.objects[path]
	if object == nil {
		w.Fatalf("there is no %s", path)
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, typed); err != nil {
		w.Fatal(err)
	}
	return typed
}

// sync brings both stores up to date, as the informers do.
func (w *world) sync() {
	w.Helper()
	w.syncAts()
	w.syncPods()
}

func (w *world) syncAts()  { w.Helper(); replace[At](w, w.AtStore, "ats/") }
func (w *world) syncPods() { w.Helper(); replace[corev1.Pod](w, w.PodStore, "pods/") }

func replace[T any](w *world, store cache.Indexer, prefix string) {
	w.Helper()
	var objects []any
	for path := range w.api.objects {
		object := any(nil)
		if strings.HasPrefix(path, prefix) {
			object = stored[T](w, path)
		}
		if pod, ok := object.(*corev1.Pod); ok && pod.Labels[uidLabel] == "" {
			continue // the informer's selector
		}
		if object != nil {
			objects = append(objects, object)
		}
	}
	if err := store.Replace(objects, strconv.Itoa(w.api.version)); err != nil {
		w.Fatal(err)
	}
}

// reconcile brings the stores up to date and reconciles, which must send these requests and
// no others, and succeed. It returns when to look again.
func (w *world) reconcile(want ...string) time.Duration {
	w.Helper()
	w.sync()
	return w.reconcileStale(want...)
}

// reconcileStale is reconcile with the stores as they are.
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
	w.api.sent = nil
	before := w.contents()
	again, err := w.Reconcile(w.Context(), exampleKey)
	if diff := cmp.Diff(want, w.api.sent); diff != "" {
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

// is fails the test unless the At has this phase and reason.
func (w *world) is(phase Phase, reason Reason) {
	w.Helper()
	if got := w.at().Status; got.Phase != phase || got.Reason != reason {
		w.Errorf("%s %s %q, want %s %s", got.Phase, got.Reason, got.Message, phase, reason)
	}
}

// set changes one field of an object as another client would.
func (w *world) set(path string, value any, fields ...string) {
	w.Helper()
	object := w.api.objects[path].DeepCopy()
	if err := unstructured.SetNestedField(object.Object, value, fields...); err != nil {
		w.Fatal(err)
	}
	w.api.put(path, object)
}

// delete deletes an object as another client would: one with finalizers stays.
func (w *world) delete(path string) {
	w.Helper()
	if len(w.api.objects[path].GetFinalizers()) == 0 {
		w.api.drop(path)
		return
	}
	w.set(path, "2026-01-02T12:00:00Z", "metadata", "deletionTimestamp")
}

// apiServer does the part of an API server's work that the reconcile relies on. It is the
// clients' http.RoundTripper.
type apiServer struct {
	t       *testing.T
	version int
	objects map[string]*unstructured.Unstructured // by "ats/name", "pods/name"
	sent    []string
	// before is called before each request, if it is set. An error is the answer.
	before func(request string) *apierrors.StatusError
}

func (s *apiServer) put(path string, object *unstructured.Unstructured) {
	s.version++
	object.SetResourceVersion(strconv.Itoa(s.version))
	if object.GetUID() == "" {
		object.SetUID(types.UID(fmt.Sprintf("uid-%d", s.version)))
	}
	if object.GetDeletionTimestamp() != nil && len(object.GetFinalizers()) == 0 {
		delete(s.objects, path)
		return
	}
	s.objects[path] = object
}

func (s *apiServer) drop(path string) {
	s.version++
	delete(s.objects, path)
}

func (s *apiServer) RoundTrip(r *http.Request) (*http.Response, error) {
	_, path, _ := strings.Cut(r.URL.Path, "/namespaces/default/")
	request := r.Method + " " + path
	s.sent = append(s.sent, request)
	if s.before != nil {
		if err := s.before(request); err != nil {
			return respond(r, int(err.ErrStatus.Code), err.ErrStatus), nil
		}
	}
	body := map[string]any{}
	if r.Body != nil {
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			s.t.Errorf("%s: body: %v", request, err)
		}
	}
	answer, err := s.answer(r, strings.TrimSuffix(path, "/status"), &unstructured.Unstructured{Object: body})
	if err != nil {
		return respond(r, int(err.ErrStatus.Code), err.ErrStatus), nil
	}
	return respond(r, http.StatusOK, answer.Object), nil
}

func (s *apiServer) answer(r *http.Request, path string, body *unstructured.Unstructured) (*unstructured.Unstructured, *apierrors.StatusError) {
	if r.Method == http.MethodPost {
		path += "/" + body.GetName()
	}
	resource, name, _ := strings.Cut(path, "/")
	about, object := schema.GroupResource{Resource: resource}, s.objects[path]
	switch {
	case r.Method == http.MethodPost && object != nil:
		return nil, apierrors.NewAlreadyExists(about, name)
	case r.Method == http.MethodPost:
		object = body
	case object == nil:
		return nil, apierrors.NewNotFound(about, name)
	case r.Method == http.MethodGet:
		return object, nil
	case r.Method == http.MethodPut:
		if body.GetResourceVersion() != object.GetResourceVersion() {
			return nil, apierrors.NewConflict(about, name, fmt.Errorf("the object has been modified"))
		}
		object = object.DeepCopy()
		object.Object["status"] = body.Object["status"]
	case r.Method == http.MethodPatch:
		if body.GetUID() != object.GetUID() {
			return nil, apierrors.NewConflict(about, name, fmt.Errorf("the UID differs"))
		}
		if got := r.Header.Get("Content-Type"); got != string(types.StrategicMergePatchType) {
			s.t.Errorf("a patch of type %s", got)
		}
		gone, _, _ := unstructured.NestedStringSlice(body.Object, "metadata", "$deleteFromPrimitiveList/finalizers")
		object = object.DeepCopy()
		object.SetFinalizers(slices.DeleteFunc(object.GetFinalizers(), func(f string) bool { return slices.Contains(gone, f) }))
	}
	s.put(path, object)
	return object, nil
}

func respond(r *http.Request, code int, body any) *http.Response {
	if status, ok := body.(metav1.Status); ok {
		status.APIVersion, status.Kind = "v1", "Status"
		body = status
	}
	recorder := httptest.NewRecorder()
	recorder.Header().Set("Content-Type", runtime.ContentTypeJSON)
	recorder.WriteHeader(code)
	_ = json.NewEncoder(recorder).Encode(body)
	response := recorder.Result()
	response.Request = r
	return response
}

func toUnstructured(t *testing.T, object any) *unstructured.Unstructured {
	t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	converted := &unstructured.Unstructured{}
	decoder := json.NewDecoder(bytes.NewReader(text))
	if err := decoder.Decode(&converted.Object); err != nil {
		t.Fatal(err)
	}
	return converted
}
