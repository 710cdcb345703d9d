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
	// Failures lets a write that failed, or was undone, wait for its back-off.
	Failures *controller.Failures
}

// Reconcile has the contract of controller.Reconcile.
func (r *Reconciler) Reconcile(ctx context.Context, key cache.ObjectName) (requeueAfter time.Duration, err error) {
	// Not before the cache shows what this process wrote.
	if observed, err := r.Writes.Observed(key); !observed {
		return controller.CacheRetry, err
	}
	stored, _, _ := r.WidgetStore.GetByKey(key.String()) // nil if there is none
	w, ok := stored.(*Widget)
	if !ok || w.DeletionTimestamp != nil {
		return 0, nil // The garbage collector deletes the ConfigMap.
	}
	written := r.writeConfigMap(ctx, w)
	failures := []controller.Failure{written}
	if condition, ok := r.ready(w, written); ok {
		failures = append(failures, r.writeStatus(ctx, w, condition))
	}
	for _, f := range failures {
		if f.Sent {
			err = errors.Join(err, f.Err)
		}
		if f.Err != nil && (requeueAfter == 0 || f.Wait < requeueAfter) {
			requeueAfter = f.Wait
		}
	}
	return requeueAfter, err
}

// applyDesired sets what a Widget decides of its ConfigMap, and leaves the rest to others.
func applyDesired(c *corev1.ConfigMap, w *Widget) {
	// The Widget controls it, and the garbage collector deletes it after the Widget.
	c.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(w, kind)}
	metav1.SetMetaDataLabel(&c.ObjectMeta, label, "")
	c.Data = map[string]string{"text": w.Spec.Text}
}

// writeConfigMap creates or updates the ConfigMap, if it is not as the Widget asks.
func (r *Reconciler) writeConfigMap(ctx context.Context, w *Widget) controller.Failure {
	configMaps, key := r.ConfigMaps.ConfigMaps(w.Namespace), cache.MetaObjectToName(w)
	write := controller.Write{Name: "write ConfigMap " + key.String(), New: len(w.Status.Conditions) == 0}
	// The store's objects are shared: never change one, change a copy.
	stored, _, _ := r.ConfigMapStore.GetByKey(key.String())
	before, exists := stored.(*corev1.ConfigMap)
	desired := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: w.Name}}
	if exists {
		write.Version, desired = before.ResourceVersion, before.DeepCopy()
	}
	applyDesired(desired, w)
	send := func() (err error) {
		var after *corev1.ConfigMap
		switch {
		case !exists:
			after, err = configMaps.Create(ctx, desired, metav1.CreateOptions{})
		case !metav1.IsControlledBy(before, w):
			return apierrors.NewAlreadyExists(corev1.Resource("configmaps"), w.Name)
		default: // The resourceVersion in the copy is optimistic locking.
			after, err = configMaps.Update(ctx, desired, metav1.UpdateOptions{})
		}
		if err != nil {
			return err
		}
		r.Writes.Await(key, r.ConfigMapStore, after)
		klog.FromContext(ctx).Info("Wrote the ConfigMap", "key", key)
		return nil
	}
	if exists && equality.Semantic.DeepEqual(before, desired) {
		send = nil
	}
	return r.Failures.Try(w, write, send)
}

// ready is the condition that follows from a write. Once, a conflict or a time-out says nothing.
func (r *Reconciler) ready(w *Widget, f controller.Failure) (c metav1.Condition, ok bool) {
	c = metav1.Condition{Type: "Ready", Status: metav1.ConditionFalse}
	switch {
	case f.Err == nil:
		c.Status, c.Reason, c.Message = metav1.ConditionTrue, "Written", "the ConfigMap is as it was asked for"
	case apierrors.IsAlreadyExists(f.Err):
		c.Reason, c.Message = "NameTaken", "a ConfigMap of this name exists that is not of this Widget: delete one of them"
	case controller.IsRefusal(f.Err), f.Lasts:
		c.Reason = "WriteFailed" // The words may have another identifier in them each time: Told keeps the first.
		c.Message, _ = r.Failures.Told(w, c.Reason, f.Err.Error())
	default:
		return c, false
	}
	return c, true
}

// writeStatus writes the status, if it differs from what the Widget has.
func (r *Reconciler) writeStatus(ctx context.Context, w *Widget, ready metav1.Condition) controller.Failure {
	desired := w.DeepCopy()
	desired.Status.ObservedGeneration, ready.ObservedGeneration = w.Generation, w.Generation
	meta.SetStatusCondition(&desired.Status.Conditions, ready)
	write := controller.Write{Name: "update status of Widget " + w.Name, Version: w.ResourceVersion, Purpose: fmt.Sprint(ready.Reason, ready.Message)}
	if equality.Semantic.DeepEqual(w.Status, desired.Status) {
		return r.Failures.Try(w, write, nil)
	}
	return r.Failures.Try(w, write, func() error {
		after, err := r.Client.UpdateStatus(ctx, desired)
		if err == nil {
			r.Writes.Await(cache.MetaObjectToName(w), r.WidgetStore, after)
		}
		return err
	})
}
