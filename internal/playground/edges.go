package playground

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsv1client "k8s.io/client-go/kubernetes/typed/apps/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/clientset"
	"example.com/byhand/controller"
	"example.com/byhand/controller/foo"
	"example.com/byhand/informer"
	"example.com/byhand/kit/testkit"
)

// edges is the handler and the reconcile of an edge-triggered program. It does what an event of a Foo
// says: it creates a Deployment for a new Foo or a new name, and adds the difference of the replicas.
// It does not correct what no event of a Foo says: a change while it was down, or one of the Deployment.
type edges struct {
	cache.ResourceEventHandler // of Foos
	*foo.Reconciler            // It creates the Deployment and updates the status.

	done sync.Map // by UID, each Foo as it was when the last change of it was done
}

// refused is a client of Deployments whose requests all fail.
var refused = appsv1client.NewForConfigOrDie(configFor("", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
	testkit.WriteError(w, apierrors.NewMethodNotSupported(appsv1.Resource("deployments"), "write"))
})))

// unasked are clients of Foos that ask nobody whether a Foo is still as its event said.
type unasked struct {
	clientset.FoosGetter
	clientset.FooInterface
	foo *v1alpha1.Foo
}

func (u unasked) Foos(namespace string) clientset.FooInterface {
	u.FooInterface = u.FoosGetter.Foos(namespace)
	return u
}

func (u unasked) Get(context.Context, string, metav1.GetOptions) (*v1alpha1.Foo, error) {
	return u.foo, nil
}

// OnAdd is called for each Foo of the first list, too, which is no change.
func (e *edges) OnAdd(obj any, isInInitialList bool) {
	if isInInitialList {
		e.done.Store(obj.(*v1alpha1.Foo).UID, obj)
	}
	e.ResourceEventHandler.OnAdd(obj, isInInitialList)
}

// Reconcile has the contract of controller.Reconcile.
func (e *edges) Reconcile(ctx context.Context, key cache.ObjectName) (requeueAfter time.Duration, err error) {
	stored, exists, _ := e.FooStore.GetByKey(key.String())
	if !exists {
		return 0, nil
	}
	is, was := stored.(*v1alpha1.Foo), &v1alpha1.Foo{}
	if done, known := e.done.Load(is.UID); known {
		was = done.(*v1alpha1.Foo)
	}
	more := ptr.Deref(is.Spec.Replicas, 1) - ptr.Deref(was.Spec.Replicas, 1)
	switch {
	case is.Spec.DeploymentName != was.Spec.DeploymentName:
		requeueAfter, err = e.Reconciler.Reconcile(ctx, key)
	case more != 0:
		for _, deployment := range informer.DeploymentsOf(e.DeploymentStore, is) {
			scaled := deployment.DeepCopy()
			scaled.Spec.Replicas = new(max(0, ptr.Deref(scaled.Spec.Replicas, 1)+more))
			_, failed := e.Deployments.Deployments(is.Namespace).Update(ctx, scaled, metav1.UpdateOptions{})
			err = errors.Join(err, failed)
		}
	default:
		// Only the status: writes of the Deployment are refused, which new Failures do not report.
		status := &foo.Reconciler{Foos: unasked{FoosGetter: e.Foos, foo: is}, Deployments: refused, FooStore: e.FooStore, DeploymentStore: e.DeploymentStore, Events: e.Events, Rewrites: controller.NewRewrites()}
		if _, err = status.Reconcile(ctx, key); apierrors.IsMethodNotSupported(err) {
			err = nil
		}
	}
	if err == nil && requeueAfter == 0 {
		e.done.Store(is.UID, is)
	}
	return requeueAfter, err
}
