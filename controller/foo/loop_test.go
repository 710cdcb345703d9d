package foo_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/clientset"
	"example.com/byhand/controller"
	"example.com/byhand/controller/foo"
	"example.com/byhand/internal/tests/quiet"
)

func init() { utilruntime.ErrorHandlers = nil }

// An event of a Foo, of a Deployment that it controls, and of the Deployment that it names enqueues the Foo.
func TestNewInformers(t *testing.T) {
	w := converged(t, 1)
	queue := controller.NewQueue("")
	defer queue.ShutDown()
	foos, deployments := foo.NewInformers(w.client, kubernetes.NewForConfigOrDie(w.api.Config()), "", 0, queue)
	object, owned, named := w.foo("foo"), w.deployment("deployment"), w.deployment("deployment")
	owned.Name, named.OwnerReferences = "former-name", nil
	if err := foos.Store.Add(object); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		handler cache.ResourceEventHandler
		object  metav1.Object
	}{{&foos.Handler, object}, {&deployments.Handler, owned}, {&deployments.Handler, named}} {
		test.handler.OnDelete(test.object)
		if queue.Len() != 1 {
			t.Errorf("after an event of %s the queue has %d keys, want 1", test.object.GetName(), queue.Len())
			continue
		}
		key, _ := queue.Get()
		if queue.Done(key); key != fooKey {
			t.Errorf("an event of %s enqueues %s", test.object.GetName(), key)
		}
	}
}

// Informers, queue and workers with an API server: under any lasting fault the writes of one object
// become rare and the status reports it. When the fault ends, the Foo gets its Deployment.
func TestNoHotLoop(t *testing.T) {
	replicas := func(n int64) func(object map[string]any) {
		return func(object map[string]any) { _ = unstructured.SetNestedField(object, n, "spec", "replicas") }
	}
	isDeployment := func(r *http.Request) bool { return strings.Contains(r.URL.Path, "/deployments") }
	for _, test := range []struct {
		what, reason string
		begin        func(w *world)
		act          func(w *world) // called every 5 ms
	}{
		{"a webhook denies the write, with a new identifier each time", v1alpha1.ReasonForbidden, func(w *world) {
			id := 0
			w.api.Refuse(func(r *http.Request) *apierrors.StatusError {
				if id++; r.Method != http.MethodPut || !isDeployment(r) {
					return nil
				}
				return policy(fmt.Sprintf("webhook 'w' denied request: decision %x", 7919*id))
			})
		}, nil},
		{"a webhook is down", v1alpha1.ReasonRequestFailed, func(w *world) {
			w.refuse(http.MethodPut, deploymentPath, apierrors.NewInternalError(errors.New("failed calling webhook")))
		}, nil},
		{"a webhook reverts the write, and adds an annotation", v1alpha1.ReasonChangedByOthers, func(w *world) {
			writes := 0
			w.api.Mutate(func(r *http.Request, object map[string]any) {
				if writes++; isDeployment(r) {
					replicas(1)(object)
					_ = unstructured.SetNestedField(object, fmt.Sprint(writes), "metadata", "annotations", "stamp")
				}
			})
		}, nil},
		{"another controller reverts the write", v1alpha1.ReasonChangedByOthers, nil, func(w *world) {
			if d := w.api.Get(deploymentPath + "deployment"); d != nil && *w.deployment("deployment").Spec.Replicas != 1 {
				w.api.Edit(deploymentPath+"deployment", func(o *unstructured.Unstructured) { replicas(1)(o.Object) })
			}
		}},
		{"another controller reverts two fields, in turn", v1alpha1.ReasonChangedByOthers, nil, func(w *world) {
			d := w.api.Get(deploymentPath + "deployment")
			if d == nil || *w.deployment("deployment").Spec.Replicas != 3 || w.deployment("deployment").Spec.Template.Spec.Containers[0].Image == "other" {
				return
			}
			w.api.Edit(deploymentPath+"deployment", func(o *unstructured.Unstructured) {
				if o.GetGeneration()%4 < 2 {
					replicas(1)(o.Object)
					return
				}
				_ = unstructured.SetNestedField(o.Object, []any{map[string]any{"name": "nginx", "image": "other"}}, "spec", "template", "spec", "containers")
			})
		}},
		{"another controller deletes the Deployment", v1alpha1.ReasonChangedByOthers, nil, func(w *world) {
			if w.api.Get(deploymentPath+"deployment") != nil {
				w.api.Remove(deploymentPath + "deployment")
			}
		}},
		{"another controller creates a copy with the owner reference", v1alpha1.ReasonChangedByOthers, nil, func(w *world) {
			if w.api.Get(deploymentPath+"copy") == nil {
				copied := w.api.Get(deploymentPath + "deployment").DeepCopy()
				copied.SetName("copy")
				w.api.Add(deploymentPath+"copy", copied)
			}
		}},
		{"another controller empties the status", "", nil, func(w *world) {
			if w.api.Get(fooPath + "foo").Object["status"] != nil {
				w.set(fooPath+"foo", nil, "status")
			}
		}},
	} {
		t.Run(test.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.createFoo("foo", spec("deployment", 1))
				queue := controller.NewQueue("")
				foos, deployments := foo.NewInformers(clientset.NewForConfigOrDie(w.api.Config()), kubernetes.NewForConfigOrDie(w.api.Config()), "", 0, queue)
				w.reconciler.FooStore, w.reconciler.DeploymentStore = foos.Store, deployments.Store
				ctx, cancel := context.WithCancel(quiet.Context(t))
				go foos.Run(ctx)
				go deployments.Run(ctx)
				go controller.New(queue, w.reconciler.Reconcile).Run(ctx, 4)
				time.Sleep(2 * time.Minute)

				if test.begin != nil {
					test.begin(w)
				}
				w.set(fooPath+"foo", int64(3), "spec", "replicas")
				w.api.Requests()
				for end := time.Now().Add(15 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
					if test.act != nil {
						test.act(w)
					}
				}
				sent := strings.Join(w.api.Requests(), "\n")
				writes, statuses := strings.Count(sent, "PUT deployments")+strings.Count(sent, "POST deployments")+strings.Count(sent, "DELETE deployments"), strings.Count(sent, "/status")
				if most := 5; writes > 16 || test.reason != "" && statuses > most || statuses > 16 {
					t.Errorf("in 15 s %d writes of Deployments and %d of the status", writes, statuses)
				}
				if test.reason != "" {
					w.ready("foo", test.reason)
				}
				w.api.Refuse(nil)
				w.api.Mutate(nil)
				time.Sleep(2 * time.Minute)
				w.ready("foo", v1alpha1.ReasonWaitingForReplicas)
				if got := *w.deployment("deployment").Spec.Replicas; got != 3 {
					t.Errorf("in the end the Deployment has %d replicas, want 3", got)
				}
				cancel()
				time.Sleep(2 * time.Minute) // until the Reflectors have ended
			})
		})
	}
}
