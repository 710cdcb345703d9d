package trace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/clientset"
)

const credential = "a-token-that-nobody-may-see"

// served is a Recorder between real clients and a server that answers as a test
// says.
func served(t *testing.T, answer http.HandlerFunc) (*Recorder, clientset.Interface, kubernetes.Interface) {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	r := New(Options{})
	config := &rest.Config{Host: server.URL, BearerToken: credential, QPS: -1}
	config.Wrap(r.Transport)
	return r, clientset.NewForConfigOrDie(config), kubernetes.NewForConfigOrDie(config)
}

// answerWith answers with an object in the form that the client asked for.
func answerWith(t *testing.T, w http.ResponseWriter, r *http.Request, code int, object runtime.Object) {
	t.Helper()
	w.Header().Set("Content-Type", mediaType(r))
	w.WriteHeader(code)
	if err := encoder(t, r).Encode(object, w); err != nil {
		t.Error(err)
	}
}

func mediaType(r *http.Request) string {
	if strings.Contains(r.Header.Get("Accept"), runtime.ContentTypeProtobuf) {
		return runtime.ContentTypeProtobuf
	}
	return runtime.ContentTypeJSON
}

// both kinds of objects have their type set here: the encoder adds none.
func encoder(t *testing.T, r *http.Request) runtime.Encoder {
	t.Helper()
	info, ok := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), mediaType(r))
	if !ok {
		t.Fatalf("no serializer for %s", mediaType(r))
	}
	return info.Serializer
}

func typed(object runtime.Object, gv schema.GroupVersion, kind string) runtime.Object {
	object.GetObjectKind().SetGroupVersionKind(gv.WithKind(kind))
	return object
}

// Writes, in JSON and in protobuf: what was sent, what came back, whose it is, and
// that its version is known as our own.
func TestExchange(t *testing.T) {
	conflict := apierrors.NewConflict(v1alpha1.Resource("foos"), "foo", errors.New("the object has been modified"))
	r, client, kube := served(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPost:
			answerWith(t, w, r, http.StatusCreated, typed(deployment("11", true), appsv1.SchemeGroupVersion, "Deployment"))
		case r.Method == http.MethodDelete:
			answerWith(t, w, r, http.StatusOK, typed(&metav1.Status{Status: metav1.StatusSuccess}, schema.GroupVersion{Version: "v1"}, "Status"))
		case strings.HasSuffix(r.URL.Path, "/status"):
			answerWith(t, w, r, http.StatusOK, typed(foo("12"), v1alpha1.SchemeGroupVersion, "Foo"))
		default:
			answerWith(t, w, r, http.StatusConflict, typed(&conflict.ErrStatus, schema.GroupVersion{Version: "v1"}, "Status"))
		}
	})
	reconcile := r.Reconcile(func(ctx context.Context, _ cache.ObjectName) (time.Duration, error) {
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
	})
	if _, err := reconcile(t.Context(), fooKey); !apierrors.IsConflict(err) {
		t.Errorf("error %v, want the server's own", err)
	}

	past, live := r.Subscribe(1, nil)
	live.Stop()
	var lines []string
	for _, step := range past {
		if step.Foo != "default/foo" {
			t.Errorf("%s %s is for Foo %q", step.Part, step.What, step.Foo)
		}
		if step.Part == PartRequest {
			lines = append(lines, fmt.Sprintf("%s %s %s %s %d %s", step.What, step.Request.Method, step.Kind, step.Key, step.Request.Status, step.Func))
		}
	}
	if diff := cmp.Diff([]string{
		"sent POST Deployment default/d 0 FooReconciler.createDeployment",
		"answered POST Deployment default/d 201 FooReconciler.createDeployment",
		"sent DELETE Deployment default/old 0 FooReconciler.deleteRenamed",
		"answered DELETE Deployment default/old 200 FooReconciler.deleteRenamed",
		"sent PUT Foo default/foo 0 FooReconciler.updateStatus",
		"answered PUT Foo default/foo 200 FooReconciler.updateStatus",
		"sent PUT Foo default/foo 0 Check",
		"answered PUT Foo default/foo 409 Check",
	}, lines); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	last := past[len(past)-1]
	const decision = "created Deployment d; deleted Deployment old; wrote the status (Ready False, NameTaken); update Foo foo: Conflict, somebody else wrote first; error: "
	if last.What != Failed || !strings.HasPrefix(last.Text, decision) {
		t.Errorf("the reconcile %s: %s, want failed: %s", last.What, last.Text, decision)
	}
	created := past[2]
	if created.Version != "11" || created.Request.Bytes == 0 || created.Took <= 0 || !json.Valid([]byte(created.Request.Reply)) || !json.Valid([]byte(past[1].Request.Body)) {
		t.Errorf("the answer to the POST is %+v, %+v", created, created.Request)
	}
	for _, name := range []string{versionName("Deployment", "default/d", "11"), versionName("Foo", "default/foo", "12"), uidName("Deployment", "default/old", "uid-old")} {
		if r.writes.of(name) == 0 {
			t.Errorf("%s is not known as our own write", name)
		}
	}
	if n := len(r.writes.underway); n != 0 {
		t.Errorf("%d writes are under way still", n)
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
	reconcile := r.Reconcile(func(ctx context.Context, _ cache.ObjectName) (time.Duration, error) {
		deployments := kube.AppsV1().Deployments("default")
		if _, err := deployments.Create(ctx, deployment("", true), metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
			t.Errorf("error %v, want the server's own", err)
		}
		_, err := deployments.Get(ctx, "d", metav1.GetOptions{})
		return time.Second, err
	})
	if _, err := reconcile(t.Context(), fooKey); err != nil {
		t.Error(err)
	}

	past, live := r.Subscribe(1, nil)
	live.Stop()
	var lines []string
	for _, step := range past {
		lines = append(lines, fmt.Sprintf("%s %s: %s (%s)", step.What, step.Key, step.Text, step.Func))
	}
	if diff := cmp.Diff([]string{
		"started default/foo:  (FooReconciler.Reconcile)",
		"sent default/d: create Deployment d (FooReconciler.createDeployment)",
		`answered default/d: deployments.apps "d" already exists (FooReconciler.createDeployment)`,
		"sent default/d: get Deployment d (FooReconciler.createDeployment)",
		"answered default/d: OK (FooReconciler.createDeployment)",
		"ended default/foo: create Deployment d: there is one already, asked the server for Deployment d; " +
			"the stores are behind the server: look again in 1s (FooReconciler.Reconcile)",
	}, lines); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	// It is somebody else's: its event is no echo.
	if n := len(r.writes.underway) + len(r.writes.answered); n != 0 {
		t.Errorf("%d writes are remembered, want none", n)
	}
}

// noSecrets fails the test if a step holds what nobody may see.
func noSecrets(t *testing.T, steps []Step) {
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

// A DELETE that was refused was none; no answer is told as that; what is nobody's
// business is not shown.
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
	if r.writes.of(uidName("Deployment", "default/old", "uid-old")) != 0 {
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
	past, live := r.Subscribe(1, nil)
	live.Stop()
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

// The events of a watch, in JSON and in protobuf, each with its object, and the end
// of the watch with its reason.
func TestStream(t *testing.T) {
	var release sync.WaitGroup
	release.Add(1)
	r, client, kube := served(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", mediaType(r)+";stream=watch")
		w.WriteHeader(http.StatusOK)
		object, gv, kind := runtime.Object(foo("3")), v1alpha1.SchemeGroupVersion, "Foo"
		if strings.HasSuffix(r.URL.Path, "/deployments") {
			object, gv, kind = deployment("3", true), appsv1.SchemeGroupVersion, "Deployment"
		}
		send := sender(t, w, r)
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

	past, live := r.Subscribe(1, nil)
	live.Stop()
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
			if wanted := map[string]string{"Foo": step.Key, "Deployment": "default/foo"}[kind]; step.Kind == kind && step.Key != "" && step.Foo != wanted {
				t.Errorf("an event of %s %s is for Foo %q", step.Kind, step.Key, step.Foo)
			}
		}
		if diff := cmp.Diff(want, lines); diff != "" {
			t.Errorf("%s (-want +got):\n%s", kind, diff)
		}
		if r.streams.lists[kind] == 0 {
			t.Errorf("%s: no list was seen", kind)
		}
	}
	r.telling.Lock()
	defer r.telling.Unlock()
	if r.streams.received("Foo", "default/foo", "3") != 0 || r.streams.received("Foo", "default/late", "10") == 0 {
		t.Error("only an event after the list is the cause of a change")
	}
	noSecrets(t, past)
}

// sender returns a function that sends one event as an API server does.
func sender(t *testing.T, w http.ResponseWriter, r *http.Request) func(watch.EventType, runtime.Object) {
	t.Helper()
	info, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), mediaType(r))
	events := streaming.NewEncoder(info.StreamSerializer.Framer.NewFrameWriter(w), info.StreamSerializer.Serializer)
	return func(what watch.EventType, object runtime.Object) {
		raw, err := runtime.Encode(info.Serializer, object)
		if err == nil {
			err = events.Encode(&metav1.WatchEvent{Type: string(what), Object: runtime.RawExtension{Raw: raw}})
		}
		if err != nil {
			t.Error(err)
		}
		w.(http.Flusher).Flush()
	}
}

// A list in one piece, one that is refused, and one that gets no answer.
func TestList(t *testing.T) {
	r := New(Options{})
	for _, test := range []struct {
		response *http.Response
		err      error
		want     string
	}{
		{&http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("{}"))}, nil, "stream listed: list"},
		{&http.Response{StatusCode: http.StatusForbidden, Body: http.NoBody}, nil, "stream refused: 403 Forbidden"},
		{nil, errors.New("nobody there"), "stream refused: no answer: nobody there"},
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
func TestFrames(t *testing.T) {
	for _, binary := range []bool{false, true} {
		text := "one\ntwo\n\nthree\n"
		if binary {
			text = "\x00\x00\x00\x03one\x00\x00\x00\x00\x00\x00\x00\x05three"
		}
		for piece := 1; piece <= len(text); piece++ {
			f, got := frames{binary: binary}, []string{}
			for rest := []byte(text); len(rest) > 0; rest = rest[min(piece, len(rest)):] {
				f.write(rest[:min(piece, len(rest))], func(frame []byte) { got = append(got, string(frame)) })
			}
			want := []string{"one\n", "two\n", "\n", "three\n"}
			if binary {
				want = []string{"one", "", "three"}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("binary %t, in pieces of %d (-want +got):\n%s", binary, piece, diff)
			}
		}
		f := frames{binary: binary}
		for range 3 * frameLimit / (1 << 20) {
			f.write([]byte(strings.Repeat("\x7f", 1<<20)), func([]byte) { t.Error("there is no event") })
		}
		if f.buffer.Cap() != 0 {
			t.Errorf("binary %t: %d bytes are kept of an event without an end", binary, f.buffer.Cap())
		}
	}
}

// A GET after a POST that found a Deployment there stands elsewhere in the code.
func TestPlaceOfGet(t *testing.T) {
	get := func(run *run) string {
		return (&exchange{to: target{kind: "Deployment"}, run: run, request: Request{Method: http.MethodGet}}).placeOf()
	}
	later := &run{}
	later.asked.Add(1)
	for want, got := range map[string]string{
		"request":                get(nil),
		"request GET Deployment": get(&run{}),
		"request GET existing":   get(later),
	} {
		if got != want {
			t.Errorf("place %q, want %q", got, want)
		}
	}
}

func TestTarget(t *testing.T) {
	for path, want := range map[string]target{
		"/apis/samplecontroller.k8s.io/v1alpha1/namespaces/ns/foos/n/status": {"Foo", "ns", "n", "status"},
		"/prefix/apis/apps/v1/namespaces/ns/deployments/n":                   {"Deployment", "ns", "n", ""},
		"/apis/apps/v1/namespaces/ns/deployments":                            {"Deployment", "ns", "", ""},
		"/apis/examples-gzh.com/v1alpha1/projects":                           {kind: "Project"},
		"/apis/other.io/v1/namespaces/ns/foos/n":                             {},
		"/apis/apps/v1/namespaces/ns/replicasets/n":                          {},
		"/apis/apps/v1/namespaces/ns":                                        {},
		"/apis/apps/v1":                                                      {},
		"/api/v1/namespaces/ns/secrets/n":                                    {},
		"/version":                                                           {},
		"":                                                                   {},
	} {
		if got := targetOf(path); got != want {
			t.Errorf("%s is about %+v, want %+v", path, got, want)
		}
	}
}
