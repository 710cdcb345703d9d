package controller

import (
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
)

// A write is forgotten when the cache shows it. Otherwise memory would grow with each write.
func TestObservedIsForgotten(t *testing.T) {
	var writes PendingWrites
	key, store := cache.NewObjectName("default", "one"), cache.NewIndexer(cache.MetaNamespaceKeyFunc, nil)
	old := &metav1.ObjectMeta{Namespace: "default", Name: "old", ResourceVersion: "1"}
	_ = store.Add(old)
	writes.AwaitChange(key, store, old, nil)
	if writes.Observed(key) {
		t.Error("the deletion counts as observed, but the cache does not show it")
	}
	_ = store.Delete(old)
	if !writes.Observed(key) || len(writes.byKey) > 0 {
		t.Errorf("%d keys are remembered, want none", len(writes.byKey))
	}
}

// A rejected write changes nothing: the cache already shows the newest version.
func TestRejectedWriteIsNotAwaited(t *testing.T) {
	var writes PendingWrites
	key, store := cache.NewObjectName("default", "one"), cache.NewIndexer(cache.MetaNamespaceKeyFunc, nil)
	object := &metav1.ObjectMeta{Namespace: "default", Name: "one", ResourceVersion: "1"}
	_ = store.Add(object)
	writes.AwaitChange(key, store, object, apierrors.NewForbidden(schema.GroupResource{Resource: "widgets"}, "one", nil))
	if !writes.Observed(key) {
		t.Error("the key waits for a rejected write")
	}
}

// A webhook returns Conflict for an unchanged object: the store never changes, and the key does not wait forever.
func TestInventedConflict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var writes PendingWrites
		key, store := cache.NewObjectName("default", "one"), cache.NewIndexer(cache.MetaNamespaceKeyFunc, nil)
		object := &metav1.ObjectMeta{Namespace: "default", Name: "one", ResourceVersion: "1"}
		_ = store.Add(object)
		writes.AwaitChange(key, store, object, apierrors.NewConflict(schema.GroupResource{Resource: "widgets"}, "one", nil))
		for _, want := range []bool{false, true} {
			if got := writes.Observed(key); got != want {
				t.Errorf("observed: %t, want %t", got, want)
			}
			time.Sleep(21 * time.Second)
		}
	})
}
