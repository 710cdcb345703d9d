package main

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"

	"example.com/byhand/controller"
)

// Reconciler gives each Widget its ConfigMap. All fields must be set, except Writes.
type Reconciler struct {
	Client *Client
	Kube   kubernetes.Interface
	// The stores are the cache. The informers fill them.
	WidgetStore, ConfigMapStore cache.Indexer
	// Writes holds the writes that the cache does not show yet.
	Writes controller.PendingWrites
	// Rewrites notices that others undo a write.
	Rewrites *controller.Rewrites
	Events   events.EventRecorder
}

// Reconcile has the contract of controller.Reconcile.
func (r *Reconciler) Reconcile(ctx context.Context, key cache.ObjectName) (requeueAfter time.Duration, err error) {
	// Not before the cache shows what this process wrote.
	if !r.Writes.Observed(key) {
		return controller.CacheRetry, nil
	}
	stored, _, _ := r.WidgetStore.GetByKey(key.String()) // nil if not found
	w, ok := stored.(*Widget)
	if !ok || w.DeletionTimestamp != nil {
		return 0, nil // The garbage collector deletes what the Widget owns.
	}
	err = r.writeConfigMap(ctx, w)
	if controller.IsRace(err) {
		return 0, err // The cache is old: decide nothing more from it.
	}
	return 0, errors.Join(err, r.writeStatus(ctx, w, err))
}

// label is on each object that a Widget owns.
const label = "mine.example.com/widget"

// own makes a Widget the controller of an object: the garbage collector deletes the object after the Widget.
func own(object *metav1.ObjectMeta, w *Widget) {
	object.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(w, kind)}
	metav1.SetMetaDataLabel(object, label, "")
}

// writeConfigMap sets the fields of the ConfigMap that a Widget decides.
func (r *Reconciler) writeConfigMap(ctx context.Context, w *Widget) error {
	name := metav1.ObjectMeta{Namespace: w.Namespace, Name: w.Name}
	return writeOwned(ctx, r, w, r.Kube.CoreV1().ConfigMaps(w.Namespace), r.ConfigMapStore, &corev1.ConfigMap{ObjectMeta: name}, func(c *corev1.ConfigMap) {
		own(&c.ObjectMeta, w)
		c.Data = map[string]string{"text": w.Spec.Text}
	})
}

// client is what writeOwned needs of a typed client, such as Kube.CoreV1().ConfigMaps(namespace).
type client[T any] interface {
	Create(ctx context.Context, object T, opts metav1.CreateOptions) (T, error)
	Update(ctx context.Context, object T, opts metav1.UpdateOptions) (T, error)
}

// object is a pointer to a built-in kind, such as *corev1.ConfigMap.
type object interface {
	metav1.Object
	runtime.Object
}

// writeOwned creates or updates one object that a Widget owns, if it differs. desired has its name. apply sets each
// field that the Widget decides and must leave all others as they are: they belong to the API server or to others.
func writeOwned[T object](ctx context.Context, r *Reconciler, w *Widget, client client[T], store cache.Indexer, desired T, apply func(T)) error {
	kind, key := reflect.TypeFor[T]().Elem().Name(), cache.MetaObjectToName(desired)
	action, send := "Created", func() (T, error) { return client.Create(ctx, desired, metav1.CreateOptions{}) }
	stored, _, _ := store.GetByKey(key.String())
	before, exists := stored.(T)
	if exists {
		if !metav1.IsControlledBy(before, w) {
			return taken(kind + " " + key.Name)
		}
		desired = before.DeepCopyObject().(T) // Never change the store's object: others read it.
		// The resourceVersion in the copy is optimistic locking.
		action, send = "Updated", func() (T, error) { return client.Update(ctx, desired, metav1.UpdateOptions{}) }
	}
	apply(desired)
	if exists && equality.Semantic.DeepEqual(before, desired) {
		return r.Rewrites.Err(w, kind)
	}
	after, err := send()
	switch {
	case apierrors.IsAlreadyExists(err): // The cache has only objects with our label.
		return taken(kind + " " + key.Name)
	case err != nil:
		return fmt.Errorf("write %s %s: %w", kind, key, err)
	}
	r.Writes.Await(cache.MetaObjectToName(w), store, after)
	r.Rewrites.Record(w, kind, nil)
	r.Events.Eventf(w, after, corev1.EventTypeNormal, action, "Write", "%s %s %s", action, kind, key.Name)
	again := after.DeepCopyObject().(T)
	if apply(again); !equality.Semantic.DeepEqual(after, again) {
		return fmt.Errorf("%s %s: %w", kind, key, controller.ErrReverted)
	}
	return r.Rewrites.Err(w, kind)
}

// taken is the error for an object that is not this Widget's, by kind and name. It is never written.
type taken string

func (t taken) Error() string {
	return string(t) + " exists and belongs to something else: delete it, or rename one of them"
}

// ready is the condition that follows from the writes.
func ready(err error) (status metav1.ConditionStatus, reason, message string) {
	if err == nil {
		return metav1.ConditionTrue, "Written", "each object is as the spec asks"
	}
	if t, isTaken := errors.AsType[taken](err); isTaken {
		return metav1.ConditionFalse, "NameTaken", t.Error()
	}
	// Not err's own text: with a new request ID in it, each attempt would write the status and cause an event.
	return metav1.ConditionFalse, "WriteFailed", "an object cannot be written: the log says why"
}

// writeStatus writes the status, if it differs from the Widget's, and records a new reason as an Event.
func (r *Reconciler) writeStatus(ctx context.Context, w *Widget, err error) error {
	desired, c := w.DeepCopy(), metav1.Condition{Type: "Ready", ObservedGeneration: w.Generation}
	c.Status, c.Reason, c.Message = ready(err)
	desired.Status.ObservedGeneration = w.Generation
	meta.SetStatusCondition(&desired.Status.Conditions, c)
	if equality.Semantic.DeepEqual(w.Status, desired.Status) {
		return nil
	}
	after, err := r.Client.UpdateStatus(ctx, desired)
	if err != nil {
		return err
	}
	r.Writes.Await(cache.MetaObjectToName(w), r.WidgetStore, after)
	if was := meta.FindStatusCondition(w.Status.Conditions, c.Type); was == nil || was.Reason != c.Reason {
		level := map[bool]string{true: corev1.EventTypeNormal, false: corev1.EventTypeWarning}[c.Status == metav1.ConditionTrue]
		r.Events.Eventf(w, nil, level, c.Reason, "Reconcile", "%s", c.Message)
	}
	return nil
}
