package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"example.com/byhand/controller"
)

// label is on each ConfigMap of ours.
const label = "mine.example.com/widget"

// Reconciler gives each Widget its ConfigMap. All fields must be set, except Writes.
type Reconciler struct {
	Client     *Client
	ConfigMaps corev1client.ConfigMapsGetter
	// WidgetStore and ConfigMapStore are the cache: the informers' stores.
	WidgetStore, ConfigMapStore cache.Indexer
	// Writes holds the writes that the cache does not show yet.
	Writes controller.PendingWrites
	// Rewrites notices that others undo what was written.
	Rewrites *controller.Rewrites
}

// Reconcile has the contract of controller.Reconcile.
func (r *Reconciler) Reconcile(ctx context.Context, key cache.ObjectName) (requeueAfter time.Duration, err error) {
	// Not before the cache shows what this process wrote.
	if !r.Writes.Observed(key) {
		return controller.CacheRetry, nil
	}
	stored, _, _ := r.WidgetStore.GetByKey(key.String()) // nil if there is none
	w, ok := stored.(*Widget)
	if !ok || w.DeletionTimestamp != nil {
		return 0, nil // The garbage collector deletes the ConfigMap.
	}
	err = r.writeConfigMap(ctx, w)
	if controller.IsRace(err) {
		return 0, err // Decide nothing more from this cache.
	}
	return 0, errors.Join(err, r.writeStatus(ctx, w, err))
}

// applyDesired sets what a Widget decides of its ConfigMap, and leaves the rest to others.
func applyDesired(c *corev1.ConfigMap, w *Widget) {
	// The Widget controls it, and the garbage collector deletes it after the Widget.
	c.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(w, kind)}
	metav1.SetMetaDataLabel(&c.ObjectMeta, label, "")
	c.Data = map[string]string{"text": w.Spec.Text}
}

// errTaken is for a ConfigMap that is another's. It is never written.
var errTaken = errors.New("a ConfigMap of this name exists that is not of this Widget: delete one of them")

// writeConfigMap creates or updates the ConfigMap, if it is not as the Widget asks.
func (r *Reconciler) writeConfigMap(ctx context.Context, w *Widget) (err error) {
	configMaps, key := r.ConfigMaps.ConfigMaps(w.Namespace), cache.MetaObjectToName(w)
	// The store's objects are shared: never change one, change a copy.
	stored, _, _ := r.ConfigMapStore.GetByKey(key.String())
	before, exists := stored.(*corev1.ConfigMap)
	desired := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: w.Name}}
	if exists {
		desired = before.DeepCopy()
	}
	applyDesired(desired, w)
	var after *corev1.ConfigMap
	switch {
	case !exists:
		after, err = configMaps.Create(ctx, desired, metav1.CreateOptions{})
	case !metav1.IsControlledBy(before, w):
		return errTaken
	case equality.Semantic.DeepEqual(before, desired):
		return r.Rewrites.Err(w, "ConfigMap")
	default: // The resourceVersion in the copy is optimistic locking.
		after, err = configMaps.Update(ctx, desired, metav1.UpdateOptions{})
	}
	switch {
	case apierrors.IsAlreadyExists(err): // The cache has only those with our label.
		return errTaken
	case err != nil:
		return fmt.Errorf("write ConfigMap: %w", err)
	}
	r.Writes.Await(key, r.ConfigMapStore, after)
	r.Rewrites.Record(w, "ConfigMap", "")
	if !equality.Semantic.DeepEqual(after.Data, desired.Data) {
		return controller.ErrReverted
	}
	klog.FromContext(ctx).Info("Wrote the ConfigMap", "key", key)
	return r.Rewrites.Err(w, "ConfigMap")
}

// ready is the condition that follows from a write.
func ready(err error) (status metav1.ConditionStatus, reason, message string) {
	switch {
	case err == nil:
		return metav1.ConditionTrue, "Written", "the ConfigMap is as it was asked for"
	case errors.Is(err, errTaken):
		return metav1.ConditionFalse, "NameTaken", err.Error()
	}
	// Not the text of err: an identifier in it would make each try a write, and so an event.
	return metav1.ConditionFalse, "WriteFailed", "the ConfigMap cannot be written: the log says why"
}

// writeStatus writes the status, if it differs from what the Widget has.
func (r *Reconciler) writeStatus(ctx context.Context, w *Widget, err error) error {
	desired, c := w.DeepCopy(), metav1.Condition{Type: "Ready", ObservedGeneration: w.Generation}
	c.Status, c.Reason, c.Message = ready(err)
	desired.Status.ObservedGeneration = w.Generation
	meta.SetStatusCondition(&desired.Status.Conditions, c)
	if equality.Semantic.DeepEqual(w.Status, desired.Status) {
		return nil
	}
	after, err := r.Client.UpdateStatus(ctx, desired)
	if err == nil {
		r.Writes.Await(cache.MetaObjectToName(w), r.WidgetStore, after)
	}
	return err
}
