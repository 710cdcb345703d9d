package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubefake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/informer"
	"example.com/byhand/internal/testkit/quiet"
)

// synced runs an informer until its first list is in the store.
func synced(t *testing.T, i *informer.Informer) *informer.Informer {
	t.Helper()
	ctx, cancel := context.WithCancel(quiet.Context(t))
	done := make(chan struct{})
	go func() {
		defer close(done)
		i.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	if err := informer.WaitForSync(ctx, 30*time.Second, i); err != nil {
		t.Fatal(err)
	}
	return i
}

// TestAtInformer: it asks for one namespace or for all, and fills the store. The server here
// cannot stream a list, so the Reflector falls back to a plain one.
func TestAtInformer(t *testing.T) {
	for namespace, path := range map[string]string{"": "/v1alpha1/ats", "ns": "/v1alpha1/namespaces/ns/ats"} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			switch query := r.URL.Query(); {
			case !strings.HasSuffix(r.URL.Path, path):
				t.Errorf("%s %s, want %s", r.Method, r.URL, path)
			case query.Has("sendInitialEvents"):
				w.WriteHeader(http.StatusUnprocessableEntity)
				_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422}`)
			case query.Has("watch"):
				w.(http.Flusher).Flush()
				<-r.Context().Done()
			default:
				_, _ = io.WriteString(w, `{"kind":"AtList","apiVersion":"cnat.programming-kubernetes.info/v1alpha1","metadata":{"resourceVersion":"7"},"items":[{"metadata":{"namespace":"ns","name":"one"}}]}`)
			}
		}))
		t.Cleanup(server.Close)
		client, err := NewClient(&rest.Config{Host: server.URL})
		if err != nil {
			t.Fatal(err)
		}
		i := synced(t, NewAts(client, namespace, 0, cache.ResourceEventHandlerFuncs{}))
		if _, ok := get[*At](i.Store, cache.NewObjectName("ns", "one")); !ok {
			t.Errorf("the store has %q", i.Store.ListKeys())
		}
	}
}

// TestPodInformer: of all Pods it has those of Ats, and finds them by their At.
func TestPodInformer(t *testing.T) {
	pod := func(name, at string, labels map[string]string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, Labels: labels, Annotations: map[string]string{nameAnnotation: at}}}
	}
	labels := map[string]string{uidLabel: "uid"}
	client := kubefake.NewClientset(pod("a", "one", labels), pod("b", "two", labels), pod("others", "one", nil))
	i := synced(t, NewPods(client, "", cache.ResourceEventHandlerFuncs{}))
	if n := len(i.Store.ListKeys()); n != 2 {
		t.Errorf("%d Pods in the store, want 2", n)
	}
	if pods := podsOf(i.Store, cache.NewObjectName("ns", "one")); len(pods) != 1 || pods[0].Name != "a" {
		t.Errorf("Pods of one: %v", pods)
	}
	find := atOfOrphan(func() cache.Store { return i.Store })
	if keys := find(cache.NewObjectName("ns", "b")); len(keys) != 1 || keys[0].Name != "two" {
		t.Errorf("the At of b: %v", keys)
	}
	if keys := find(cache.NewObjectName("ns", "gone")); len(keys) != 0 {
		t.Errorf("the At of a Pod that is gone: %v", keys)
	}
}
