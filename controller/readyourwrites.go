package controller

import (
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/tools/cache"
)

// Read your writes. Without this file a reconcile may read a cache (the stores of the informers) that does
// not show the controller's own last write yet (TestOwnWritesAreAwaited):
//
//	1.000 s  The reconcile creates the Deployment (version 7) and writes the Foo's status (version 8).
//	1.001 s  The watch delivers version 7, and the handler enqueues the key.
//	1.002 s  The cache shows the new Deployment and the old Foo, without a status. The reconcile writes the
//	         status again. The API server answers 409 Conflict.
//
// So each key waits until the cache shows its writes. kube-controller-manager has done the same since
// v1.36 (pkg/controller/util/consistency).

// CacheRetry is how long a key waits for the cache if no event enqueues it earlier.
const CacheRetry = time.Second

// PendingWrites holds the writes of each key that the cache does not show yet. It is safe for concurrent use.
type PendingWrites struct {
	mu    sync.Mutex
	byKey map[cache.ObjectName][]func() (isObserved bool)
}

// Await makes key wait until store has reached the version of written, the API server's response to a write.
func (p *PendingWrites) Await(key cache.ObjectName, store cache.Store, written metav1.Object) {
	version := written.GetResourceVersion()
	p.add(key, func() bool {
		order, err := resourceversion.CompareResourceVersion(store.LastStoreSyncResourceVersion(), version)
		return err != nil || order >= 0 // err: a fake client, or a store without the feature gate AtomicFIFO, has no version.
	})
}

// AwaitChange makes key wait until store no longer has this version of object. Use it when the response has no
// version: after a DELETE (err is nil), or after a lost race, which shows that the API server has a newer
// version. For other errors, key does not wait. A webhook can invent a Conflict, so the wait ends after 20 s.
func (p *PendingWrites) AwaitChange(key cache.ObjectName, store cache.Store, object metav1.Object, err error) {
	if err != nil && !IsRace(err) {
		return
	}
	name, version := cache.MetaObjectToName(object).String(), object.GetResourceVersion()
	end := time.Now().Add(20 * time.Second)
	p.add(key, func() bool {
		stored, _, _ := store.GetByKey(name) // nil if not found
		current, exists := stored.(metav1.Object)
		return !exists || current.GetResourceVersion() != version || time.Now().After(end)
	})
}

func (p *PendingWrites) add(key cache.ObjectName, isObserved func() bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byKey == nil {
		p.byKey = map[cache.ObjectName][]func() bool{}
	}
	p.byKey[key] = append(p.byKey[key], isObserved)
}

// Observed reports whether the cache shows all writes of key. Call it before you read the cache: after a stale
// read it may already return true.
func (p *PendingWrites) Observed(key cache.ObjectName) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if slices.ContainsFunc(p.byKey[key], func(isObserved func() bool) bool { return !isObserved() }) {
		return false
	}
	delete(p.byKey, key)
	return true
}
