package informer_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/clientset"
	"example.com/byhand/informer"
	"example.com/byhand/internal/testkit/quiet"
)

const deadline = 10 * time.Second

// start runs an informer against a server, until the test ends.
func start(t *testing.T, serve http.HandlerFunc, o options, newInformer func(options) *informer.Informer) *informer.Informer {
	t.Helper()
	server := httptest.NewServer(serve)
	config := &rest.Config{Host: server.URL, QPS: -1}
	o.client, o.kube = clientset.NewForConfigOrDie(config), kubernetes.NewForConfigOrDie(config)
	i := newInformer(o)
	ctx, cancel := context.WithCancel(quiet.Context(t))
	done := make(chan struct{})
	go func() {
		defer close(done)
		i.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
		server.CloseClientConnections()
		server.Close()
	})
	return i
}

// receive waits for the next value, which must be want.
func receive(t *testing.T, values <-chan string, want string) {
	t.Helper()
	select {
	case got := <-values:
		if got != want {
			t.Errorf("received %q, want %q", got, want)
		}
	case <-time.After(deadline):
		t.Fatalf("received nothing, want %q", want)
	}
}

// newPods is for the tests that hold for an informer of any kind.
func newPods(o options) *informer.Informer {
	pods := o.kube.CoreV1().Pods(o.namespace)
	listWatch := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			return pods.List(ctx, opts)
		},
		WatchFuncWithContext: pods.Watch,
	}
	return informer.New(corev1.Resource("pods"), o.kube, listWatch, cache.InformerOptions{ObjectType: &corev1.Pod{}, Handler: o.handler})
}

func pod(name, version string) corev1.Pod {
	return corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, ResourceVersion: version}}
}

// listThenWatch answers a list with one Pod and a watch with one more. It refuses
// the streaming list that a Reflector asks for first, as an old server would.
func listThenWatch(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch verb(r) {
	case "streaming list":
		w.WriteHeader(http.StatusUnprocessableEntity)
		_ = json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
			Status: metav1.StatusFailure, Reason: metav1.StatusReasonInvalid, Code: http.StatusUnprocessableEntity})
	case "watch":
		_ = json.NewEncoder(w).Encode(map[string]any{"type": "ADDED", "object": pod("watched", "11")})
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	default:
		_ = json.NewEncoder(w).Encode(corev1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"},
			ListMeta: metav1.ListMeta{ResourceVersion: "10"}, Items: []corev1.Pod{pod("listed", "9")}})
	}
}

// A list and a watch fill the Store. The handler is called for both, after the Store
// has them.
func TestListAndWatch(t *testing.T) {
	added := make(chan string, 10)
	var pods *informer.Informer
	ready := make(chan struct{})
	pods = start(t, func(w http.ResponseWriter, r *http.Request) {
		<-ready
		listThenWatch(w, r)
	}, options{handler: cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
		key := cache.MetaObjectToName(obj.(*corev1.Pod)).String()
		if _, exists, _ := pods.Store.GetByKey(key); !exists {
			t.Errorf("OnAdd of %s before the Store has it", key)
		}
		added <- key
	}}}, newPods)
	close(ready)
	if err := informer.WaitForSync(context.Background(), deadline, pods); err != nil {
		t.Fatal(err)
	}
	if len(added) == 0 {
		t.Error("synced before the handler was called for the list")
	}
	for _, want := range []string{"default/listed", "default/watched"} {
		receive(t, added, want)
	}
	if got := pods.Store.LastStoreSyncResourceVersion(); got != "11" {
		t.Errorf("the store is at version %q, want 11", got)
	}
}

// The handler may be replaced before Run, as an observer does.
func TestHandlerIsReplaced(t *testing.T) {
	added := make(chan string, 10)
	start(t, listThenWatch, options{handler: cache.ResourceEventHandlerFuncs{}}, func(o options) *informer.Informer {
		pods := newPods(o)
		pods.Handler.ResourceEventHandler = cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) { added <- obj.(*corev1.Pod).Name }}
		return pods
	})
	receive(t, added, "listed")
}

// WaitForSync returns when its caller gives up.
func TestWaitForSyncCanceled(t *testing.T) {
	pods := start(t, hang, options{handler: cache.ResourceEventHandlerFuncs{}}, newPods)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := informer.WaitForSync(ctx, deadline, pods); err != context.Canceled {
		t.Errorf("error %v, want context.Canceled", err)
	}
}
