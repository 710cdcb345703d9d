package informer_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubefake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/clientset"
	"example.com/byhand/informer"
)

const deadline = 10 * time.Second

// start runs an informer over Foos against a server, until the test ends.
func start(t *testing.T, serve http.HandlerFunc, handler cache.ResourceEventHandler) *informer.Informer {
	t.Helper()
	server := httptest.NewServer(serve)
	client := clientset.NewForConfigOrDie(&rest.Config{Host: server.URL, QPS: -1})
	foos := informer.NewFoos(client, "", 0, handler)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		foos.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
		server.CloseClientConnections()
		server.Close()
	})
	return foos
}

func foo(name, version string) v1alpha1.Foo {
	return v1alpha1.Foo{
		TypeMeta: metav1.TypeMeta{APIVersion: "samplecontroller.k8s.io/v1alpha1", Kind: "Foo"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, ResourceVersion: version,
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "somebody"}}},
		Spec: v1alpha1.FooSpec{DeploymentName: "wanted"},
	}
}

// listThenWatch answers a list with one Foo and a watch with one more. It refuses
// the streaming list that a Reflector asks for first, as an old server would.
func listThenWatch(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	query := r.URL.Query()
	switch {
	case query.Get("sendInitialEvents") != "":
		w.WriteHeader(http.StatusUnprocessableEntity)
		_ = json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
			Status: metav1.StatusFailure, Reason: metav1.StatusReasonInvalid, Code: http.StatusUnprocessableEntity})
	case query.Get("watch") != "":
		_ = json.NewEncoder(w).Encode(map[string]any{"type": "ADDED", "object": foo("watched", "11")})
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	default:
		_ = json.NewEncoder(w).Encode(v1alpha1.FooList{TypeMeta: metav1.TypeMeta{APIVersion: "samplecontroller.k8s.io/v1alpha1", Kind: "FooList"},
			ListMeta: metav1.ListMeta{ResourceVersion: "10"}, Items: []v1alpha1.Foo{foo("listed", "9")}})
	}
}

// A list and a watch fill the store; the handler hears of both, after the store
// has them; managedFields are not kept.
func TestListAndWatch(t *testing.T) {
	heard := make(chan string, 10)
	var foos *informer.Informer
	ready := make(chan struct{})
	foos = start(t, func(w http.ResponseWriter, r *http.Request) {
		<-ready
		listThenWatch(w, r)
	}, cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
		key := cache.MetaObjectToName(obj.(*v1alpha1.Foo)).String()
		if _, exists, _ := foos.Store.GetByKey(key); !exists {
			t.Errorf("the handler hears of %s before the store has it", key)
		}
		heard <- key
	}})
	close(ready)
	if err := informer.WaitForSync(context.Background(), deadline, foos); err != nil {
		t.Fatal(err)
	}
	if len(heard) == 0 {
		t.Error("in sync before the handler heard of the list")
	}
	for _, want := range []string{"default/listed", "default/watched"} {
		select {
		case got := <-heard:
			if got != want {
				t.Errorf("heard of %s, want %s", got, want)
			}
		case <-time.After(deadline):
			t.Fatalf("heard nothing of %s", want)
		}
	}
	for _, stored := range foos.Store.List() {
		if stored.(*v1alpha1.Foo).ManagedFields != nil {
			t.Error("managedFields are kept in memory")
		}
	}
	if got := foos.Store.LastStoreSyncResourceVersion(); got != "11" {
		t.Errorf("the store is at version %q, want 11", got)
	}
}

// Who waits in vain learns which resource is missing, and why.
func TestWaitForSyncNamesWhatIsMissing(t *testing.T) {
	for _, test := range []struct {
		reason string
		serve  http.HandlerFunc
		want   string
	}{
		{"the server refuses", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusForbidden)
			_ = json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
				Status: metav1.StatusFailure, Reason: metav1.StatusReasonForbidden, Message: "no right to list", Code: http.StatusForbidden})
		}, "foos.samplecontroller.k8s.io: no right to list"},
		{"the server says nothing", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "foos.samplecontroller.k8s.io: the first list is not complete"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			asked := make(chan struct{}, 100)
			foos := start(t, func(w http.ResponseWriter, r *http.Request) {
				test.serve(w, r)
				asked <- struct{}{}
			}, cache.ResourceEventHandlerFuncs{})
			if test.want != "foos.samplecontroller.k8s.io: the first list is not complete" {
				// The streaming list and the plain list have both been refused.
				<-asked
				<-asked
			}
			err := informer.WaitForSync(context.Background(), 200*time.Millisecond, foos)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
	t.Run("the caller gives up", func(t *testing.T) {
		foos := start(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, cache.ResourceEventHandlerFuncs{})
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := informer.WaitForSync(ctx, deadline, foos); err != context.Canceled {
			t.Errorf("error %v, want context.Canceled", err)
		}
	})
}

// An informer over client-go's fake gets in sync, too: it says on its clientset
// that it cannot stream a list.
func TestDeploymentsOverFake(t *testing.T) {
	client := kubefake.NewClientset(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "one"}})
	deployments := informer.NewDeployments(client, "", 0, cache.ResourceEventHandlerFuncs{})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		deployments.Run(ctx)
	}()
	defer func() { cancel(); <-done }()
	if err := informer.WaitForSync(ctx, deadline, deployments); err != nil {
		t.Fatal(err)
	}
	if got := deployments.Store.ListKeys(); len(got) != 1 || got[0] != "default/one" {
		t.Errorf("the store holds %v, want default/one", got)
	}
}

// The indexes answer by UID and by name, within a namespace, and bear objects of
// another type: an index function that fails makes client-go panic.
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
	naming := informer.FoosNaming(foos)(cache.NewObjectName("default", "wanted"))
	if len(naming) != 1 || naming[0] != cache.NewObjectName("default", "here") {
		t.Errorf("Foos that name default/wanted: %v, want only the one in that namespace", naming)
	}

	for name, index := range map[string]cache.Indexers{"foos": informer.FooIndexers(), "deployments": informer.DeploymentIndexers()} {
		for _, function := range index {
			if values, err := function("neither"); err != nil || values != nil {
				t.Errorf("index of %s for an object of another type: %v, %v; want nothing", name, values, err)
			}
		}
	}
}

// A list that takes long says how far it is: the resource, and how many objects
// have arrived.
func TestProgress(t *testing.T) {
	foos := start(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for _, name := range []string{"one", "two", "three"} {
			_ = json.NewEncoder(w).Encode(map[string]any{"type": "ADDED", "object": foo(name, "7")})
		}
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}, cache.ResourceEventHandlerFuncs{})

	said := make(chan string, 1000)
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), funcr.New(func(_, args string) { said <- args }, funcr.Options{})))
	defer cancel()
	go informer.LogProgress(ctx, 10*time.Millisecond, foos)
	const want = `"msg"="Still listing" "resource"="foos.samplecontroller.k8s.io" "received"=3`
	for end := time.After(deadline); ; {
		select {
		case line := <-said:
			if strings.Contains(line, want) {
				return
			}
		case <-end:
			t.Fatalf("nothing says %s", want)
		}
	}
}
