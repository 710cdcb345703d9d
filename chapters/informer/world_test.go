package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/clientset"
	core "example.com/byhand/informer"
	"example.com/byhand/internal/tests"
	"example.com/byhand/internal/tests/quiet"
	"example.com/byhand/kit/testkit"
)

const foos = "/apis/samplecontroller.k8s.io/v1alpha1/namespaces/default/foos/"

// world is an in-memory API server, an informer of Foos with these parts, and their outcome, in a
// bubble of testing/synctest: an hour takes no time.
type world struct {
	*testing.T
	*testkit.APIServer
	informer cache.SharedIndexInformer
	stop     func()
	running  sync.WaitGroup
	refused  atomic.Int32  // number of connections to refuse
	ends     time.Duration // how long SIGTERM took

	mu    sync.Mutex
	calls [][]string // handler, second, call
}

func newWorld(t *testing.T, swapped clientGo) *world {
	// The default handlers wait between errors in quick succession. In the next bubble the
	// clock starts in 2000 again: there they would wait for years.
	utilruntime.ErrorHandlers = nil
	w := &world{T: t, APIServer: tests.NewAPIServer()}
	config := w.Config()
	config.Transport = w
	client := clientset.NewForConfigOrDie(config).SamplecontrollerV1alpha1().RESTClient()
	w.informer = swapped.informer("foos", cache.NewListWatchFromClient(client, "foos", "", fields.Everything()), &v1alpha1.Foo{}, time.Hour, core.FooIndexers())
	return w
}

func (w *world) RoundTrip(r *http.Request) (*http.Response, error) {
	if w.refused.Add(-1) >= 0 {
		return nil, syscall.ECONNREFUSED
	}
	return testkit.Transport{Handler: w}.RoundTrip(r)
}

// start runs the informer. end stops it, unless it was stopped before.
func (w *world) start() {
	ctx, cancel := context.WithCancel(quiet.Context(w.T))
	w.stop = cancel
	w.running.Go(func() { w.informer.RunWithContext(ctx) })
	synctest.Wait()
}

func (w *world) end() {
	began := time.Now()
	w.stop()
	w.running.Wait()
	w.ends += time.Since(began)
}

// outcome is the expected result of a case: the handlers' calls, sorted within a second (a list has
// no order); the first six requests, repetitions counted once; the store's content and version, and
// whether SIGTERM ended everything at once.
type outcome struct{ calls, requests, end string }

func (w *world) outcome() outcome {
	var calls, requests []string
	slices.SortFunc(w.calls, slices.Compare)
	for _, c := range w.calls {
		calls = append(calls, c[0]+c[2])
	}
	for _, r := range w.Faults.Log() {
		requests = append(requests, describe(r.Query))
	}
	requests = slices.Compact(requests)
	store := w.informer.GetIndexer()
	end := show(store.List()...) + " at " + store.LastStoreSyncResourceVersion()
	if w.ends > 0 {
		end += ", not at once"
	}
	return outcome{strings.Join(calls, ", "), strings.Join(requests[:min(len(requests), 6)], ", "), end}
}

// describe returns LIST, WATCH or STREAM (a streaming list), the latter two with bookmarks, and the
// version.
func describe(query url.Values) string {
	what := "LIST"
	switch {
	case query.Has("sendInitialEvents") && query.Has("allowWatchBookmarks"):
		what = "STREAM"
	case query.Has("allowWatchBookmarks"):
		what = "WATCH"
	}
	if version := query.Get("resourceVersion"); version != "" {
		what += " after " + version
	}
	return what
}

// Responses of a server, for a case's script.

var (
	expired     = refuse(apierrors.NewResourceExpired("too old resource version"))
	busy        = refuse(apierrors.NewTooManyRequestsError("later"))
	unavailable = refuse(apierrors.NewServiceUnavailable("no etcd")) // without Retry-After
	noStream    = refuse(apierrors.NewInvalid(v1alpha1.Kind("Foo"), "sendInitialEvents", nil))
)

// tooLarge is a response that client-go's client retries ten times, a second apart.
func tooLarge(rw http.ResponseWriter, _ *http.Request) {
	err := apierrors.NewTimeoutError("Too large resource version: 106, current: 102", 1)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge}}
	testkit.WriteError(rw, err)
}

func refuse(err apierrors.APIStatus) http.HandlerFunc {
	return func(rw http.ResponseWriter, _ *http.Request) { testkit.WriteError(rw, err) }
}

// sends sends an event, and continues with then.
func sends(what, name string, version int, then http.HandlerFunc) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(rw, `{"type":%q,"object":{"apiVersion":"samplecontroller.k8s.io/v1alpha1","kind":"Foo",`+
			`"metadata":{"namespace":"default","name":%q,"resourceVersion":"%d"},"spec":{"replicas":1}}}`+"\n", what, name, version)
		_ = http.NewResponseController(rw).Flush()
		then(rw, r)
	}
}

// says responds with 200 and a line.
func says(line string) http.HandlerFunc {
	return func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "application/json")
		fmt.Fprintln(rw, line)
	}
}

func done(http.ResponseWriter, *http.Request) {}

// cut breaks the connection after half a line.
func cut(rw http.ResponseWriter, _ *http.Request) {
	fmt.Fprint(rw, `{"type":"ADDED","object":{"kind":"Foo","apiVers`)
	panic(http.ErrAbortHandler)
}

// onlyLists rejects a stream, and responds to a list with answer.
func onlyLists(answer http.HandlerFunc) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("sendInitialEvents") {
			noStream(rw, r)
		} else {
			answer(rw, r)
		}
	}
}

// answer responds to the next n requests instead of the server.
func (w *world) answer(n int32, instead http.HandlerFunc) {
	var asked atomic.Int32
	w.Intercept(func(rw http.ResponseWriter, r *http.Request) (answered bool) {
		if answered = asked.Add(1) <= n; answered {
			instead(rw, r)
		}
		return answered
	})
}

// begin starts the informer with one Foo. again does the same; a minute later it ends the watch, and the
// next n requests get this response.
func (w *world) begin() {
	w.put("a", 1)
	w.start()
}

func (w *world) again(n int32, answer http.HandlerFunc) {
	w.begin()
	w.later(time.Minute)
	w.answer(n, answer)
	w.EndWatches("foos")
	w.later(time.Minute)
}

// Actions of users and the server.

// put creates or changes a Foo, a second later. Each change has a number, and the first Foo has
// version 102.
func (w *world) put(name string, number int64) {
	w.later(time.Second)
	w.set(name, number)
	synctest.Wait()
}

func (w *world) set(name string, number any) {
	w.Add(foos+name, &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"deploymentName": name, "replicas": number}}})
}

func (w *world) later(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// Results.

// add adds a handler that records its calls. Each call takes some time.
func (w *world) add(name string, takes time.Duration) cache.ResourceEventHandlerRegistration {
	say := func(format string, args ...any) {
		w.mu.Lock()
		w.calls = append(w.calls, []string{name, strconv.FormatInt(time.Now().Unix(), 10), fmt.Sprintf(format, args...)})
		w.mu.Unlock()
		time.Sleep(takes)
	}
	added, _ := w.informer.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, isInInitialList bool) {
			say("%s %s", map[bool]string{false: "add", true: "first"}[isInInitialList], show(object))
		},
		UpdateFunc: func(before, after any) { say("%s→%s", show(before), show(after)) },
		DeleteFunc: func(object any) {
			what := "delete"
			if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
				what, object = "lost", tombstone.Obj
			}
			say("%s %s", what, show(object))
		},
	})
	return added
}

// show returns the Foos' names with their numbers, sorted.
func show(objects ...any) string {
	var names []string
	for _, object := range objects {
		foo := object.(*v1alpha1.Foo)
		names = append(names, foo.Name+strconv.Itoa(int(*foo.Spec.Replicas)))
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}
