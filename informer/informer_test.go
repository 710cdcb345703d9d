package informer_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
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

func foo(name, version string) v1alpha1.Foo {
	return v1alpha1.Foo{
		TypeMeta: metav1.TypeMeta{APIVersion: "samplecontroller.k8s.io/v1alpha1", Kind: "Foo"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, ResourceVersion: version,
			Annotations: map[string]string{"kubectl.kubernetes.io/last-applied-configuration": "{}"},
			Labels:      map[string]string{"of": "somebody"}, Finalizers: []string{"example.com/one"}, OwnerReferences: []metav1.OwnerReference{{Name: "somebody"}},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "somebody"}}},
		Spec: v1alpha1.FooSpec{DeploymentName: "wanted"},
	}
}

// listThenWatch answers a list with one Foo and a watch with one more. It refuses
// the streaming list that a Reflector asks for first, as an old server would.
func listThenWatch(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch verb(r) {
	case "streaming list":
		w.WriteHeader(http.StatusUnprocessableEntity)
		_ = json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
			Status: metav1.StatusFailure, Reason: metav1.StatusReasonInvalid, Code: http.StatusUnprocessableEntity})
	case "watch":
		_ = json.NewEncoder(w).Encode(map[string]any{"type": "ADDED", "object": foo("watched", "11")})
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	default:
		_ = json.NewEncoder(w).Encode(v1alpha1.FooList{TypeMeta: metav1.TypeMeta{APIVersion: "samplecontroller.k8s.io/v1alpha1", Kind: "FooList"},
			ListMeta: metav1.ListMeta{ResourceVersion: "10"}, Items: []v1alpha1.Foo{foo("listed", "9")}})
	}
}

// A list and a watch fill the Store. The handler is called for both, after the Store
// has them. managedFields and annotations are not kept.
func TestListAndWatch(t *testing.T) {
	added := make(chan string, 10)
	var foos *informer.Informer
	ready := make(chan struct{})
	foos = start(t, func(w http.ResponseWriter, r *http.Request) {
		<-ready
		listThenWatch(w, r)
	}, options{handler: cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
		key := cache.MetaObjectToName(obj.(*v1alpha1.Foo)).String()
		if _, exists, _ := foos.Store.GetByKey(key); !exists {
			t.Errorf("OnAdd of %s before the Store has it", key)
		}
		added <- key
	}}}, newFoos)
	close(ready)
	if err := informer.WaitForSync(context.Background(), deadline, foos); err != nil {
		t.Fatal(err)
	}
	if len(added) == 0 {
		t.Error("synced before the handler was called for the list")
	}
	for _, want := range []string{"default/listed", "default/watched"} {
		receive(t, added, want)
	}
	for _, stored := range foos.Store.List() {
		is := stored.(*v1alpha1.Foo).ObjectMeta
		if want := (metav1.ObjectMeta{Namespace: is.Namespace, Name: is.Name, ResourceVersion: is.ResourceVersion}); !equality.Semantic.DeepEqual(is, want) {
			t.Errorf("kept in memory: %+v, want %+v", is, want)
		}
	}
	if got := foos.Store.LastStoreSyncResourceVersion(); got != "11" {
		t.Errorf("the store is at version %q, want 11", got)
	}
}

// The handler may be replaced before Run, as an observer does.
func TestHandlerIsReplaced(t *testing.T) {
	added := make(chan string, 10)
	start(t, listThenWatch, options{handler: cache.ResourceEventHandlerFuncs{}}, func(o options) *informer.Informer {
		foos := newFoos(o)
		foos.Handler.ResourceEventHandler = cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) { added <- obj.(*v1alpha1.Foo).Name }}
		return foos
	})
	receive(t, added, "listed")
}

// WaitForSync returns when its caller gives up.
func TestWaitForSyncCanceled(t *testing.T) {
	foos := start(t, hang, options{handler: cache.ResourceEventHandlerFuncs{}}, newFoos)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := informer.WaitForSync(ctx, deadline, foos); err != context.Canceled {
		t.Errorf("error %v, want context.Canceled", err)
	}
}

// The indexes find objects by UID, and by namespace and name.
func TestIndexes(t *testing.T) {
	yes := true
	deployments := cache.NewIndexer(cache.MetaNamespaceKeyFunc, informer.DeploymentIndexers())
	for _, d := range []appsv1.Deployment{
		{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "controlled", OwnerReferences: []metav1.OwnerReference{{UID: "one", Controller: &yes}}}},
		{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "only-owned", OwnerReferences: []metav1.OwnerReference{{UID: "one"}}}},
		{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "of-another", OwnerReferences: []metav1.OwnerReference{{UID: "two", Controller: &yes}}}},
		{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "nobodys"}},
		{ObjectMeta: metav1.ObjectMeta{Namespace: "elsewhere", Name: "forged", OwnerReferences: []metav1.OwnerReference{{UID: "one", Controller: &yes}}}},
	} {
		if err := deployments.Add(&d); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, d := range informer.DeploymentsOf(deployments, &metav1.ObjectMeta{Namespace: "default", UID: "one"}) {
		got = append(got, d.Name)
	}
	if diff := cmp.Diff([]string{"controlled"}, got); diff != "" {
		t.Errorf("Deployments of UID one (-want +got):\n%s", diff)
	}

	foos := cache.NewIndexer(cache.MetaNamespaceKeyFunc, informer.FooIndexers())
	here, there := foo("here", "1"), foo("there", "1")
	there.Namespace = "elsewhere"
	for _, f := range []v1alpha1.Foo{here, there} {
		if err := foos.Add(&f); err != nil {
			t.Fatal(err)
		}
	}
	naming := informer.FoosNaming(foos, cache.NewObjectName("default", "wanted"))
	if len(naming) != 1 || naming[0] != cache.NewObjectName("default", "here") {
		t.Errorf("Foos that name default/wanted: %v, want only the one in that namespace", naming)
	}
}
