package controller

import (
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// What the cache shows is forgotten, or the memory would grow with each write.
func TestObservedIsForgotten(t *testing.T) {
	var writes PendingWrites
	key, store := cache.NewObjectName("default", "one"), cache.NewIndexer(cache.MetaNamespaceKeyFunc, nil)
	writes.AwaitChange(key, store, &metav1.ObjectMeta{Namespace: "default", Name: "gone"}, nil)
	if observed, _ := writes.Observed(key); !observed || len(writes.byKey) > 0 {
		t.Errorf("%d keys are remembered, want none", len(writes.byKey))
	}
}

// An API server that says that it has deleted what it has not holds a key up for 20 s.
func TestWrongAnswerIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var writes PendingWrites
		key, store := cache.NewObjectName("default", "one"), cache.NewIndexer(cache.MetaNamespaceKeyFunc, nil)
		object := &metav1.ObjectMeta{Namespace: "default", Name: "one", ResourceVersion: "7"}
		_ = store.Add(object)
		writes.AwaitChange(key, store, object, nil)
		for _, want := range []bool{false, true} {
			if observed, _ := writes.Observed(key); observed != want {
				t.Errorf("observed %t, want %t", observed, want)
			}
			time.Sleep(outdatedTimeout)
		}
	})
}
