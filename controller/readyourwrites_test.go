package controller

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// What the cache shows is forgotten, or the memory would grow with each write.
func TestObservedIsForgotten(t *testing.T) {
	var writes PendingWrites
	key, store := cache.NewObjectName("default", "foo"), cache.NewIndexer(cache.MetaNamespaceKeyFunc, nil)
	writes.AwaitChange(key, store, &metav1.ObjectMeta{Namespace: "default", Name: "gone"}, nil)
	if observed, _ := writes.Observed(key); !observed || len(writes.byKey) > 0 {
		t.Errorf("%d keys are remembered, want none", len(writes.byKey))
	}
}
