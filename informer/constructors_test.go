package informer_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	kubefake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/clientset"
	"example.com/byhand/clientset/fake"
	"example.com/byhand/informer"
	"example.com/byhand/internal/tests"
	"example.com/byhand/internal/tests/quiet"
	"example.com/byhand/internal/tests/samples"
)

// options are the arguments of a constructor, with both clientsets.
type options struct {
	client    clientset.Interface
	kube      kubernetes.Interface
	namespace string
	resync    time.Duration
	handler   cache.ResourceEventHandler
}

type constructor struct {
	apiVersion, kind, plural string
	new                      func(options) *informer.Informer
}

// constructors returns all informers: our kinds and Deployments.
func constructors() []constructor {
	all := []constructor{{"apps/v1", "Deployment", "deployments", newDeployments}}
	for _, k := range samples.All {
		all = append(all, constructor{k.GroupVersion().String(), k.Kind, k.Plural, func(o options) *informer.Informer {
			return k.Informer(o.client, o.namespace, o.resync, o.handler)
		}})
	}
	return all
}

func newDeployments(o options) *informer.Informer {
	return informer.NewDeployments(o.kube, o.namespace, o.resync, o.handler)
}

func verb(r *http.Request) string {
	switch query := r.URL.Query(); {
	case query.Get("sendInitialEvents") != "":
		return "streaming list"
	case query.Get("watch") != "":
		return "watch"
	default:
		return "list"
	}
}

func TestRequestPaths(t *testing.T) {
	for _, c := range constructors() {
		for namespace, folder := range map[string]string{"default": "namespaces/default/", "": ""} {
			t.Run(c.kind+" in "+namespace, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := tests.NewAPIServer()
					var got []string
					s.Refuse(func(r *http.Request) *apierrors.StatusError {
						got = append(got, verb(r)+" "+r.URL.Path)
						if verb(r) == "streaming list" {
							return forbidden(r)
						}
						return nil
					})
					running(quiet.Context(t), t, s, func(o options) *informer.Informer {
						o.namespace = namespace
						return c.new(o)
					})
					synctest.Wait()
					path := "/apis/" + c.apiVersion + "/" + folder + c.plural
					want := []string{"streaming list " + path, "list " + path, "watch " + path}
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("requests (-want +got):\n%s", diff)
					}
				})
			})
		}
	}
}

// In each resync period, the handler is called for an unchanged object. The test uses the fake clientset.
func TestResync(t *testing.T) {
	for _, c := range constructors() {
		t.Run(c.kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				updates := make(chan bool)
				one := metav1.ObjectMeta{Namespace: "default", Name: "one", Labels: map[string]string{"a": ""}, Annotations: map[string]string{"b": ""},
					Finalizers: []string{"example.com/c"}, OwnerReferences: []metav1.OwnerReference{{Name: "d"}}}
				sent := *one.DeepCopy()
				sent.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "somebody"}}
				client := fake.NewClientset()
				if object, err := clientset.Scheme.New(schema.FromAPIVersionAndKind(c.apiVersion, c.kind)); err == nil {
					*object.(metav1.ObjectMetaAccessor).GetObjectMeta().(*metav1.ObjectMeta) = sent
					if err := client.Tracker().Add(object); err != nil {
						t.Fatal(err)
					}
				}
				i := c.new(options{
					client: client,
					kube:   kubefake.NewClientset(&appsv1.Deployment{ObjectMeta: sent}),
					resync: time.Hour,
					handler: cache.ResourceEventHandlerFuncs{UpdateFunc: func(before, after any) {
						select {
						case updates <- before == after:
						case <-t.Context().Done():
						}
					}},
				})
				begin := time.Now()
				go i.Run(t.Context())
				for n := range 2 {
					select {
					case unchanged := <-updates:
						if took := time.Since(begin); !unchanged || took != time.Duration(n+1)*time.Hour {
							t.Errorf("resync %d after %s, with the same object: %t", n+1, took, unchanged)
						}
					case <-time.After(2 * time.Hour):
						t.Fatal("no resync in two hours")
					}
				}
				if diff := cmp.Diff(&one, i.Store.List()[0].(metav1.ObjectMetaAccessor).GetObjectMeta()); diff != "" {
					t.Errorf("kept in memory (-want +got):\n%s", diff)
				}
			})
		})
	}
}
