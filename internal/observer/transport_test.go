package observer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/clientset"
	"example.com/byhand/internal/trace"
)

const credential = "a-token-that-no-reader-may-see"

// served is an Observer between real clients and a server that answers as a test
// says.
func served(t *testing.T, answer http.HandlerFunc) (*Observer, clientset.Interface, kubernetes.Interface) {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	r := observing()
	config := &rest.Config{Host: server.URL, BearerToken: credential, QPS: -1}
	config = r.Requests(config)
	r.kinds["Foo"].has["queue"] = true
	return r, clientset.NewForConfigOrDie(config), kubernetes.NewForConfigOrDie(config)
}

// answerWith answers with an object in JSON, which is all that the client takes.
func answerWith(t *testing.T, w http.ResponseWriter, r *http.Request, code int, object runtime.Object) {
	t.Helper()
	if accepts := r.Header.Get("Accept"); accepts != runtime.ContentTypeJSON {
		t.Errorf("%s %s accepts %q", r.Method, r.URL.Path, accepts)
	}
	w.Header().Set("Content-Type", runtime.ContentTypeJSON)
	w.WriteHeader(code)
	if err := json.NewEncoder(w).Encode(object); err != nil {
		t.Error(err)
	}
}

func typed(object runtime.Object, gv schema.GroupVersion, kind string) runtime.Object {
	object.GetObjectKind().SetGroupVersionKind(gv.WithKind(kind))
	return object
}

// Writes: what was sent, what came back, whose it is, and
// that its version is known as our own.
func TestExchange(t *testing.T) {
	conflict := apierrors.NewConflict(v1alpha1.Resource("foos"), "foo", errors.New("the object has been modified"))
	r, client, kube := served(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPost:
			answerWith(t, w, r, http.StatusCreated, typed(deployment("11", true), appsv1.SchemeGroupVersion, "Deployment"))
		case r.Method == http.MethodDelete:
			answerWith(t, w, r, http.StatusOK, typed(&metav1.Status{Status: metav1.StatusSuccess, Details: &metav1.StatusDetails{Name: "old", UID: "uid-old"}}, schema.GroupVersion{Version: "v1"}, "Status"))
		case strings.HasSuffix(r.URL.Path, "/status"):
			answerWith(t, w, r, http.StatusOK, typed(foo("12"), v1alpha1.SchemeGroupVersion, "Foo"))
		default:
			answerWith(t, w, r, http.StatusConflict, typed(&conflict.ErrStatus, schema.GroupVersion{Version: "v1"}, "Status"))
		}
	})
	observed := r.Reconcile(fooKind, reconcileFunc(func(ctx context.Context, _ cache.ObjectName) (time.Duration, error) {
		deployments := kube.AppsV1().Deployments("default")
		if _, err := deployments.Create(ctx, deployment("", true), metav1.CreateOptions{}); err != nil {
			t.Error(err)
		}
		uid := metav1.NewUIDPreconditions("uid-old")
		if err := deployments.Delete(ctx, "old", metav1.DeleteOptions{Preconditions: uid}); err != nil {
			t.Error(err)
		}
		ready := foo("1")
		ready.Status.Conditions = []metav1.Condition{{Type: v1alpha1.FooReady, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonNameTaken}}
		if _, err := client.SamplecontrollerV1alpha1().Foos("default").UpdateStatus(ctx, ready, metav1.UpdateOptions{}); err != nil {
			t.Error(err)
		}
		_, err := client.SamplecontrollerV1alpha1().Foos("default").Update(ctx, foo("1"), metav1.UpdateOptions{})
		return 0, err
	}))
	if _, err := observed.Reconcile(t.Context(), fooKey); !apierrors.IsConflict(err) {
		t.Errorf("error %v, want the server's own", err)
	}

	past := kept(r)
	var lines []string
	for _, step := range past {
		if step.For != "Foo default/foo" {
			t.Errorf("%s %s is for %q", step.Part, step.What, step.For)
		}
		if step.Part == trace.PartRequest {
			lines = append(lines, fmt.Sprintf("%s %s %s %s %d", step.What, step.Request.Method, step.Kind, step.Key, step.Request.Status))
		}
	}
	if diff := cmp.Diff([]string{
		"sent POST Deployment default/d 0",
		"answered POST Deployment default/d 201",
		"sent DELETE Deployment default/old 0",
		"answered DELETE Deployment default/old 200",
		"sent PUT Foo default/foo 0",
		"answered PUT Foo default/foo 200",
		"sent PUT Foo default/foo 0",
		"answered PUT Foo default/foo 409",
	}, lines); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	last := past[len(past)-1]
	const decision = "created Deployment d; deleted Deployment old; wrote the status (Ready False, NameTaken); update Foo foo: Conflict, another client wrote first; error: "
	if last.What != trace.Failed || !strings.HasPrefix(last.Text, decision) {
		t.Errorf("the reconcile %s: %s, want failed: %s", last.What, last.Text, decision)
	}
	created := past[2]
	if created.Version != "11" || created.Request.Bytes == 0 || created.Took <= 0 || !json.Valid([]byte(created.Request.Reply)) || !json.Valid([]byte(past[1].Request.Body)) {
		t.Errorf("the answer to the POST is %+v, %+v", created, created.Request)
	}
	for _, made := range [][2]string{{"Deployment", "11"}, {"Foo", "12"}, {"Deployment", "uid-old"}} {
		if r.own.of(made[0], made[1]) == 0 {
			t.Errorf("%s is not known as our own write", made)
		}
	}
	noSecrets(t, past)
}

// A POST of what is there already, and the GET that follows it: what the reconcile
// is told to have come to, and where in the code the GET is sent.
func TestAlreadyExists(t *testing.T) {
	exists := apierrors.NewAlreadyExists(appsv1.Resource("deployments"), "d")
	r, _, kube := served(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			answerWith(t, w, r, http.StatusConflict, typed(&exists.ErrStatus, schema.GroupVersion{Version: "v1"}, "Status"))
			return
		}
		answerWith(t, w, r, http.StatusOK, typed(deployment("11", true), appsv1.SchemeGroupVersion, "Deployment"))
	})
	observed := r.Reconcile(fooKind, reconcileFunc(func(ctx context.Context, _ cache.ObjectName) (time.Duration, error) {
		deployments := kube.AppsV1().Deployments("default")
		if _, err := deployments.Create(ctx, deployment("", true), metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
			t.Errorf("error %v, want the server's own", err)
		}
		_, err := deployments.Get(ctx, "d", metav1.GetOptions{})
		return time.Second, err
	}))
	if _, err := observed.Reconcile(t.Context(), fooKey); err != nil {
		t.Error(err)
	}

	want(t, r,
		"reconcile started: ",
		"request sent: create Deployment d",
		`request answered: deployments.apps "d" already exists`,
		"request sent: get Deployment d",
		"request answered: OK",
		"reconcile ended: create Deployment d: there is one already; asked the server for Deployment d; "+
			"look again in 1s at the latest",
	)
	// Another client made it: its event is no echo.
	if n := r.own.newest.Len(); n != 0 {
		t.Errorf("%d writes are remembered, want none", n)
	}
}

// noSecrets fails the test if a step holds a secret.
func noSecrets(t *testing.T, steps []trace.Step) {
	t.Helper()
	for _, step := range steps {
		text, err := json.Marshal(step)
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{credential, "hunter2", "Bearer", "everything again"} {
			if strings.Contains(string(text), secret) {
				t.Errorf("%q is in %s", secret, text)
			}
		}
	}
}

// A DELETE that was refused was none; no answer is told as that; secrets are
// not shown.
func TestExchangeFails(t *testing.T) {
	r, client, kube := served(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodDelete:
			w.WriteHeader(http.StatusForbidden)
		case strings.Contains(r.URL.Path, "/secrets"):
			answerWith(t, w, r, http.StatusOK, typed(&corev1.Secret{Data: map[string][]byte{"k": []byte("hunter2")}}, corev1.SchemeGroupVersion, "Secret"))
		default:
			panic(http.ErrAbortHandler)
		}
	})
	uid := metav1.NewUIDPreconditions("uid-old")
	if err := kube.AppsV1().Deployments("default").Delete(t.Context(), "old", metav1.DeleteOptions{Preconditions: uid}); err == nil {
		t.Error("the DELETE is not refused")
	}
	catchUp(r)
	if r.own.of("Deployment", "uid-old") != 0 {
		t.Error("a DELETE that was refused counts as our own write")
	}
	if _, err := client.SamplecontrollerV1alpha1().Foos("default").UpdateStatus(t.Context(), foo("1"), metav1.UpdateOptions{}); err == nil {
		t.Error("there is an answer")
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}, StringData: map[string]string{"k": "hunter2"}}
	if _, err := kube.CoreV1().Secrets("default").Create(t.Context(), secret, metav1.CreateOptions{FieldManager: "hunter2"}); err != nil {
		t.Error(err)
	}
	want := []string{"sent", "answered", "sent", "failed", "sent", "answered"}
	past := kept(r)
	noSecrets(t, past)
	var whats []string
	for _, step := range past {
		whats = append(whats, step.What)
	}
	if diff := cmp.Diff(want, whats); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	if failed := past[3]; !strings.HasPrefix(failed.Text, "no answer: ") || failed.Request.Status != 0 {
		t.Errorf("a request without an answer is told as %+v", failed)
	}
}

// The events of a watch, each with its object, and the end
// of the watch with its reason.
func TestStream(t *testing.T) {
	var release sync.WaitGroup
	release.Add(1)
	r, client, kube := served(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", runtime.ContentTypeJSON)
		w.WriteHeader(http.StatusOK)
		object, gv, kind := runtime.Object(foo("3")), v1alpha1.SchemeGroupVersion, "Foo"
		if strings.HasSuffix(r.URL.Path, "/deployments") {
			object, gv, kind = deployment("3", true), appsv1.SchemeGroupVersion, "Deployment"
		}
		send := sender(t, w)
		send(watch.Added, typed(object, gv, kind))
		end := object.DeepCopyObject()
		accessor := end.(metav1.Object)
		accessor.SetName("")
		accessor.SetNamespace("")
		accessor.SetOwnerReferences(nil)
		accessor.SetResourceVersion("9")
		accessor.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
		send(watch.Bookmark, end)
		object.(metav1.Object).SetName("late")
		object.(metav1.Object).SetResourceVersion("10")
		send(watch.Modified, object)
		gone := apierrors.NewResourceExpired("too old").ErrStatus
		send(watch.Error, typed(&gone, schema.GroupVersion{Version: "v1"}, "Status"))
		if kind == "Foo" {
			release.Wait()
		}
	})
	options := metav1.ListOptions{SendInitialEvents: new(true), AllowWatchBookmarks: true, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan}
	foos, err := client.SamplecontrollerV1alpha1().Foos("").Watch(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	deployments, err := kube.AppsV1().Deployments("default").Watch(t.Context(), metav1.ListOptions{ResourceVersion: "1"})
	if err != nil {
		t.Fatal(err)
	}
	for range 4 {
		<-foos.ResultChan()
	}
	for range deployments.ResultChan() {
	}
	foos.Stop()
	for range foos.ResultChan() {
	}
	release.Done()

	past := kept(r)
	for kind, want := range map[string][]string{
		"Foo": {
			"opened  : list as a stream, then watch",
			"received default/foo 3: ADDED",
			"received  9: BOOKMARK: the list is complete",
			"received default/late 10: MODIFIED",
			"received  : ERROR too old",
			"ended  : this process ends it",
		},
		"Deployment": {
			"opened  : watch from version 1",
			"received default/d 3: ADDED",
			"received  9: BOOKMARK: the list is complete",
			"received default/late 10: MODIFIED",
			"received  : ERROR too old",
			"ended  : the API server ended it",
		},
	} {
		var lines []string
		for _, step := range past {
			if step.Kind == kind {
				lines = append(lines, fmt.Sprintf("%s %s %s: %s", step.What, step.Key, step.Version, step.Text))
			}
			if wanted := map[string]string{"Foo": "Foo " + step.Key, "Deployment": "Foo default/foo"}[kind]; step.Kind == kind && step.Key != "" && step.For != wanted {
				t.Errorf("an event of %s %s is for %q", step.Kind, step.Key, step.For)
			}
		}
		if diff := cmp.Diff(want, lines); diff != "" {
			t.Errorf("%s (-want +got):\n%s", kind, diff)
		}
		if r.kinds[kind].listed == 0 {
			t.Errorf("%s: no list was seen", kind)
		}
	}
	r.publishing.Lock()
	defer r.publishing.Unlock()
	if r.received.of("Foo", "3") != 0 || r.received.of("Foo", "10") == 0 {
		t.Error("only an event after the list is the cause of a change")
	}
	noSecrets(t, past)
}

// sender returns a function that sends one event as an API server does.
func sender(t *testing.T, w http.ResponseWriter) func(watch.EventType, runtime.Object) {
	return func(what watch.EventType, object runtime.Object) {
		if err := json.NewEncoder(w).Encode(map[string]any{"type": what, "object": object}); err != nil {
			t.Error(err)
		}
		w.(http.Flusher).Flush()
	}
}

// A list in one piece, one that is refused, and one that gets no answer.
func TestList(t *testing.T) {
	r := observing()
	for _, test := range []struct {
		response *http.Response
		err      error
		want     string
	}{
		{&http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("{}"))}, nil, "stream listed: list"},
		{&http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(iotest.ErrReader(errors.New("reset")))}, nil, "stream refused: broken off: reset"},
		{&http.Response{StatusCode: http.StatusForbidden, Status: "403 Forbidden", Body: http.NoBody}, nil, "stream refused: 403 Forbidden"},
		{nil, errors.New("no server there"), "stream refused: no answer: no server there"},
	} {
		next := roundTripper(func(*http.Request) (*http.Response, error) { return test.response, test.err })
		client := &http.Client{Transport: r.Transport(next)}
		response, err := client.Get("http://api.test/apis/samplecontroller.k8s.io/v1alpha1/foos?limit=1")
		if err == nil {
			_, _ = io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
		}
		want(t, r, test.want)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// Events come in pieces of every size.
func TestEventsInPieces(t *testing.T) {
	const events = `{"type":"ADDED","object":{"metadata":{"name":"one"}}}` + "\n" + `{"type":"DELETED","object":{"metadata":{"name":"two"}}}` + "\n" + `{"type":"AD`
	for piece := 1; piece <= len(events); piece++ {
		r := observing()
		s := &stream{observer: r, kind: r.kinds["Foo"], step: trace.Step{Part: trace.PartStream, Kind: "Foo", Request: &trace.Request{}}}
		for rest := []byte(events); len(rest) > 0; rest = rest[min(piece, len(rest)):] {
			s.receive(rest[:min(piece, len(rest))])
		}
		if diff := cmp.Diff([]string{"stream received: ADDED", "stream received: DELETED"}, told(r)); diff != "" {
			t.Errorf("in pieces of %d (-want +got):\n%s", piece, diff)
		}
	}
}

func TestTarget(t *testing.T) {
	r := observing()
	r.wire(Kind{GVK: corev1.SchemeGroupVersion.WithKind("Pod"), Resource: "pods", Describe: describeFoo}, "test")
	for path, want := range map[string][4]string{
		"/apis/samplecontroller.k8s.io/v1alpha1/namespaces/ns/foos/n/status": {"Foo", "ns", "n", "status"},
		"/prefix/apis/apps/v1/namespaces/ns/deployments/n":                   {"Deployment", "ns", "n", ""},
		"/apis/apps/v1/namespaces/ns/deployments":                            {"Deployment", "ns", "", ""},
		"/apis/examples-gzh.com/v1alpha1/projects":                           {"Project"},
		"/apis/other.io/v1/namespaces/ns/foos/n":                             {},
		"/apis/apps/v1/namespaces/ns/replicasets/n":                          {},
		"/apis/apps/v1/namespaces/ns":                                        {},
		"/apis/apps/v1":                                                      {},
		"/api/v1/namespaces/ns/secrets/n":                                    {},
		"/api/v1/namespaces/ns/pods/n/status":                                {"Pod", "ns", "n", "status"},
		"/api/v1/pods":                                                       {"Pod"},
		"/version":                                                           {},
		"":                                                                   {},
	} {
		to := r.targetOf(path)
		if got := [4]string{to.kindName(), to.namespace, to.name, to.subresource}; got != want {
			t.Errorf("%s is about %q, want %q", path, got, want)
		}
	}
}

// A body is shown as far as its kind allows, and not because of what it calls itself.
func TestBodies(t *testing.T) {
	r := observing()
	r.kinds["Foo"].has["queue"] = true
	x := &exchange{observer: r, to: r.targetOf("/apis/samplecontroller.k8s.io/v1alpha1/namespaces/default/foos/foo")}
	for body, want := range map[string]string{
		`{"kind":"Foo","spec":{"deploymentName":"d"},"secret":"s"}`:         `{"apiVersion":"samplecontroller.k8s.io/v1alpha1","kind":"Foo","metadata":null,"spec":{"deploymentName":"d"}}`,
		`{"kind":"Status","code":409,"secret":"s"}`:                         `{"code":409,"kind":"Status"}`,
		`{"kind":"DeleteOptions","preconditions":{"uid":"u"},"secret":"s"}`: `{"kind":"DeleteOptions","preconditions":{"uid":"u"}}`,
		`{"kind":"Scale","spec":{"replicas":1}}`:                            "",
		`{"kind":"Table"`:                                                   "",
		`no JSON`:                                                           "",
	} {
		if got := x.shown(decode([]byte(body))); got != want {
			t.Errorf("of %s %s is shown, want %s", body, got, want)
		}
	}
}

// What is no JSON may be a stream: only the client that asked for it reads it.
func TestStreamOfSubresource(t *testing.T) {
	r := observing()
	body, end := io.Pipe()
	defer end.Close()
	client := &http.Client{Transport: r.Transport(roundTripper(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/plain"}}, Body: body}, nil
	}))}
	response, err := client.Get("http://api.test/apis/apps/v1/namespaces/default/deployments/d/log?follow=true")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = end.Write([]byte("one")) }()
	if n, err := response.Body.Read(make([]byte, 3)); n != 3 || err != nil {
		t.Errorf("%d bytes are read: %v", n, err)
	}
}

// A watch may be closed while a Reflector waits for its next event (see make test-race).
func TestCloseWhileReading(t *testing.T) {
	r := observing()
	body, events := io.Pipe()
	s := &stream{ReadCloser: body, observer: r, kind: r.kinds["Foo"], watch: true, step: trace.Step{Part: trace.PartStream, Kind: "Foo", Request: &trace.Request{}}}
	var reading sync.WaitGroup
	reading.Go(func() { _, _ = io.Copy(io.Discard, s) })
	if _, err := events.Write([]byte(`{"type":"ADDED","object":{}}` + "\n")); err != nil {
		t.Error(err)
	}
	_ = s.Close()
	reading.Wait()
	if steps := told(r); !slices.Contains(steps, "stream ended: this process ends it") {
		t.Errorf("the end is not told: %q", steps)
	}
}
