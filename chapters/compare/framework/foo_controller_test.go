package main

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

type world struct {
	*testing.T
	reconciler *FooReconciler
	writes     []string
}

func newWorld(t *testing.T, objects ...client.Object) *world {
	w := &world{T: t}
	wrote := func(what string, object client.Object) { w.writes = append(w.writes, what+" "+object.GetName()) }
	api := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithStatusSubresource(&v1alpha1.Foo{}).
		WithIndex(&appsv1.Deployment{}, ownerKey, controllerUID).
		WithInterceptorFuncs(interceptor.Funcs{
			Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
				wrote("create", o)
				return c.Create(ctx, o, opts...)
			},
			Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
				wrote("update", o)
				return c.Update(ctx, o, opts...)
			},
			Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
				wrote("delete", o)
				return c.Delete(ctx, o, opts...)
			},
			SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, o client.Object, opts ...client.SubResourceUpdateOption) error {
				wrote(sub+" of", o)
				return c.SubResource(sub).Update(ctx, o, opts...)
			},
		}).Build()
	w.reconciler = &FooReconciler{Client: api, Scheme: scheme, Recorder: events.NewFakeRecorder(100)}
	return w
}

// reconcile reconciles the Foo "foo", and expects exactly these writes.
func (w *world) reconcile(want ...string) ctrl.Result {
	w.Helper()
	w.writes = nil
	result, err := w.reconciler.Reconcile(w.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Namespace: "default", Name: "foo"}})
	if err != nil {
		w.Fatal(err)
	}
	if diff := cmp.Diff(want, w.writes); diff != "" {
		w.Errorf("writes (-want +got):\n%s", diff)
	}
	return result
}

func (w *world) edit(change func(foo *v1alpha1.Foo)) {
	w.Helper()
	foo := &v1alpha1.Foo{}
	w.get(foo, "foo")
	change(foo)
	if err := w.reconciler.Update(w.Context(), foo); err != nil {
		w.Fatal(err)
	}
}

func (w *world) get(object client.Object, name string) {
	w.Helper()
	if err := w.reconciler.Get(w.Context(), client.ObjectKey{Namespace: "default", Name: name}, object); err != nil {
		w.Fatal(err)
	}
}

// reason fails the test unless the Foo's Ready condition is False for this reason.
func (w *world) reason(want string) {
	w.Helper()
	foo := &v1alpha1.Foo{}
	w.get(foo, "foo")
	ready := meta.FindStatusCondition(foo.Status.Conditions, v1alpha1.FooReady)
	if ready == nil || ready.Status != metav1.ConditionFalse || ready.Reason != want {
		w.Errorf("the condition Ready is %+v, want False for %s", ready, want)
	}
}

func newFoo() *v1alpha1.Foo {
	return &v1alpha1.Foo{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "foo", UID: "foo-uid"},
		Spec:       v1alpha1.FooSpec{DeploymentName: "first", Replicas: new(int32(1))},
	}
}

func TestReconcile(t *testing.T) {
	w := newWorld(t, newFoo())
	w.reconcile("create first", "status of foo")
	w.reason(v1alpha1.ReasonWaitingForReplicas)
	w.reconcile()

	// A new number of replicas: a write of the Deployment and of the status.
	w.edit(func(foo *v1alpha1.Foo) { foo.Spec.Replicas = new(int32(3)) })
	w.reconcile("update first", "status of foo")
	w.reconcile()

	// A new name: the new Deployment comes first.
	w.edit(func(foo *v1alpha1.Foo) { foo.Spec.DeploymentName = "second" })
	w.reconcile("create second", "delete first")
	err := w.reconciler.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "first"}, &appsv1.Deployment{})
	if !apierrors.IsNotFound(err) {
		t.Errorf("the Deployment of the earlier name: %v, want not found", err)
	}
	w.reconcile()

	// Replicas are counted as soon as they exist.
	deployment := &appsv1.Deployment{}
	w.get(deployment, "second")
	deployment.Status.Replicas = 3
	if err := w.reconciler.Status().Update(t.Context(), deployment); err != nil {
		t.Fatal(err)
	}
	w.reconcile("status of foo")
	w.reason(v1alpha1.ReasonWaitingForReplicas)
	foo := &v1alpha1.Foo{}
	w.get(foo, "foo")
	if foo.Status.Replicas != 3 || foo.Status.AvailableReplicas != 0 {
		t.Errorf("status %+v, want 3 replicas, 0 available", foo.Status)
	}

	// Available replicas make it ready.
	deployment.Status.AvailableReplicas = 3
	if err := w.reconciler.Status().Update(t.Context(), deployment); err != nil {
		t.Fatal(err)
	}
	w.reconcile("status of foo")
	w.get(foo, "foo")
	if !meta.IsStatusConditionTrue(foo.Status.Conditions, v1alpha1.FooReady) {
		t.Errorf("status %+v, want it ready", foo.Status)
	}
}

// TestNameTaken: a Deployment that the Foo does not control is not written, and the status reports it.
func TestNameTaken(t *testing.T) {
	for name, owners := range map[string][]metav1.OwnerReference{
		"by no object":                 nil,
		"by an earlier Foo":            {{APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: "Foo", Name: "foo", UID: "earlier", Controller: new(true)}},
		"by an object of another kind": {{APIVersion: "v1", Kind: "ConfigMap", Name: "foo", UID: "other", Controller: new(true)}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, newFoo(), &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "first", OwnerReferences: owners}})
			if result := w.reconcile("status of foo"); result.RequeueAfter != takenRetry {
				t.Errorf("requeue after %s, want %s", result.RequeueAfter, takenRetry)
			}
			w.reason(v1alpha1.ReasonNameTaken)
			w.reconcile()
		})
	}
}

// TestBeingDeleted: neither a Foo nor a Deployment that is being deleted is written.
func TestBeingDeleted(t *testing.T) {
	foo := newFoo()
	foo.DeletionTimestamp, foo.Finalizers = new(metav1.Now()), []string{"example.com/held"}
	newWorld(t, foo).reconcile()

	leaving := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "first",
		DeletionTimestamp: new(metav1.Now()), Finalizers: []string{"example.com/held"},
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(newFoo(), v1alpha1.SchemeGroupVersion.WithKind("Foo"))}}}
	w := newWorld(t, newFoo(), leaving)
	w.reconcile("status of foo")
	w.reason(v1alpha1.ReasonWaitingForDeletion)

	newWorld(t).reconcile()
}
