package informer_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/clientset"
	"example.com/byhand/informer"
	"example.com/byhand/internal/tests"
	"example.com/byhand/internal/tests/quiet"
	"example.com/byhand/kit/testkit"
)

// One of these error handlers sleeps on a clock outside the synctest bubble. init removes them before all
// tests, because the Reflector of an earlier test may still read this variable.
func init() { utilruntime.ErrorHandlers = nil }

// running runs an informer against an API server in memory until the test ends. Call it in a synctest bubble.
func running(ctx context.Context, t *testing.T, s *testkit.APIServer, newInformer func(options) *informer.Informer) *informer.Informer {
	t.Helper()
	i := newInformer(options{client: clientset.NewForConfigOrDie(s.Config()), kube: kubernetes.NewForConfigOrDie(s.Config()), handler: cache.ResourceEventHandlerFuncs{}})
	ctx, cancel := context.WithCancel(ctx)
	t.Cleanup(func() {
		cancel()
		time.Sleep(2 * time.Minute) // The Reflector may sleep, and must end in the bubble.
	})
	go i.Run(ctx)
	return i
}

// newPods returns an informer for tests that need only one kind.
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

const podPath = "/api/v1/namespaces/default/pods/"

func pod(name, version string) corev1.Pod {
	return corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, ResourceVersion: version}}
}

// A handler that replaces the first one is called for the list and the watch, after the Store has the object.
func TestHandlerIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := tests.NewAPIServer()
		s.Add(podPath+"listed", &unstructured.Unstructured{Object: map[string]any{}})
		var added []string
		pods := running(quiet.Context(t), t, s, func(o options) *informer.Informer {
			pods := newPods(o)
			pods.Handler.ResourceEventHandler = cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
				name := obj.(*corev1.Pod).Name
				if _, exists, _ := pods.Store.GetByKey("default/" + name); !exists {
					t.Errorf("OnAdd of %s before the Store has it", name)
				}
				added = append(added, name)
			}}
			return pods
		})
		if err := informer.WaitForSync(t.Context(), time.Minute, pods); err != nil || len(added) == 0 {
			t.Errorf("WaitForSync returned before the handler was called for the list: %v", err)
		}
		s.Add(podPath+"watched", &unstructured.Unstructured{Object: map[string]any{}})
		synctest.Wait()
		if diff := cmp.Diff([]string{"listed", "watched"}, added); diff != "" {
			t.Errorf("added (-want +got):\n%s", diff)
		}
		if got := pods.Store.LastStoreSyncResourceVersion(); got != s.Latest() {
			t.Errorf("the store is at version %q, want %s", got, s.Latest())
		}
	})
}
