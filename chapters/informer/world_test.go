package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/clientset"
	core "example.com/byhand/informer"
	"example.com/byhand/internal/testkit"
)

func init() {
	// They wait if one error follows another one too soon: from one bubble to the next the
	// clock goes back, and they would wait for years.
	utilruntime.ErrorHandlers = nil
}

const foos = "/apis/samplecontroller.k8s.io/v1alpha1/namespaces/default/foos/"

// world is an API server in memory, an informer of Foos with these parts, and what came of
// it, in a bubble of testing/synctest: an hour takes no time.
type world struct {
	*testing.T
	*testkit.APIServer
	informer cache.SharedIndexInformer
	first    int // the version when it began
	began    time.Time
	stop     func()
	running  sync.WaitGroup

	mu       sync.Mutex
	requests []string
	calls    [][]string // of which handler, in which second, what
	n        int        // so many requests are answered by this in the server's place
	instead  http.HandlerFunc
}

// outcome returns the calls, the first six requests (one that is repeated once) and what the
// store has.
// Calls in the same second are sorted: a list has no order.
func (w *world) outcome() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	slices.SortFunc(w.calls, slices.Compare)
	var said []string
	for _, c := range w.calls {
		said = append(said, c[0]+c[2])
	}
	store := w.informer.GetIndexer()
	requests := slices.Compact(w.requests)
	version, _ := strconv.Atoi(store.LastStoreSyncResourceVersion())
	return []string{strings.Join(said, ", "), strings.Join(requests[:min(len(requests), 6)], ", "), fmt.Sprintf("%s at %d", show(store.List()...), version-w.first)}
}

func newWorld(t *testing.T, swapped clientGo) *world {
	w := &world{T: t, APIServer: testkit.NewAPIServer(), began: time.Now()}
	w.first = w.Version()
	w.Intercept(w.note)
	client := clientset.NewForConfigOrDie(w.Config()).SamplecontrollerV1alpha1().RESTClient()
	w.informer = swapped.informer("foos", cache.NewListWatchFromClient(client, "foos", "", fields.Everything()), &v1alpha1.Foo{}, time.Hour, core.FooIndexers())
	return w
}

// start runs the informer. end ends it, and returns after which time it has ended.
func (w *world) start() {
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), logr.Discard()))
	w.stop = cancel
	w.running.Go(func() { w.informer.RunWithContext(ctx) })
	synctest.Wait()
}

func (w *world) end() time.Duration {
	w.stop()
	began := time.Now()
	w.running.Wait()
	return time.Since(began)
}

// note notes a request, and answers it in the server's place if answer says so.
func (w *world) note(rw http.ResponseWriter, r *http.Request) (answered bool) {
	w.mu.Lock()
	w.requests = append(w.requests, w.describe(r))
	w.n--
	answered = w.n >= 0
	w.mu.Unlock()
	if answered {
		w.instead(rw, r)
	}
	return answered
}

// answer answers the next n requests in the server's place.
func (w *world) answer(n int, instead http.HandlerFunc) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.n, w.instead = n, instead
}

// describe returns LIST, WATCH or STREAM, a list as the beginning of a watch, and after which
// version: that counts from the beginning of the story. A Reflector may also ask for
// whatever the server has in memory.
func (w *world) describe(r *http.Request) string {
	query, what := r.URL.Query(), "LIST"
	if query.Has("watch") {
		what = "WATCH"
	}
	if query.Has("sendInitialEvents") {
		what = "STREAM"
	}
	version, _ := strconv.Atoi(query.Get("resourceVersion"))
	switch query.Get("resourceVersion") {
	case "":
		return what
	case "0":
		return what + " of any version"
	}
	return fmt.Sprintf("%s after %d", what, version-w.first)
}

// What users and the server do.

// put creates a Foo or changes it, a second later. Each change has a number.
func (w *world) put(name string, number int64) {
	w.later(time.Second)
	w.set(name, number)
	synctest.Wait()
}

func (w *world) set(name string, number any) {
	if w.Get(foos+name) == nil {
		w.Add(foos+name, &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"deploymentName": name, "replicas": number}}})
	} else {
		w.Edit(foos+name, func(foo *unstructured.Unstructured) { foo.Object["spec"].(map[string]any)["replicas"] = number })
	}
}

// later lets time go by.
func (w *world) later(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// What came of it.

// add adds a handler that notes its calls. Each call takes some time.
func (w *world) add(name string, takes time.Duration) cache.ResourceEventHandlerRegistration {
	say := func(format string, args ...any) {
		w.mu.Lock()
		w.calls = append(w.calls, []string{name, fmt.Sprintf("%6.0f", time.Since(w.began).Seconds()), fmt.Sprintf(format, args...)})
		w.mu.Unlock()
		time.Sleep(takes)
	}
	added, err := w.informer.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, isInInitialList bool) {
			say("%s %s", map[bool]string{false: "add", true: "first"}[isInInitialList], show(object))
		},
		UpdateFunc: func(before, after any) { say("%s→%s", show(before), show(after)) },
		DeleteFunc: func(object any) {
			if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
				say("lost %s", show(tombstone.Obj))
			} else {
				say("delete %s", show(object))
			}
		},
	})
	if err != nil {
		w.Error(err)
	}
	return added
}

// show returns the names of Foos, each with its number, sorted.
func show(objects ...any) string {
	var names []string
	for _, object := range objects {
		foo := object.(*v1alpha1.Foo)
		names = append(names, foo.Name+strconv.Itoa(int(*foo.Spec.Replicas)))
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}
