package controller

import (
	"errors"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/tools/cache"
)

// Read your writes. Without this file a reconcile acts on a cache that does not show
// the process's own last write yet (TestOwnWritesAreAwaited):
//
//	1.000 s  The reconcile creates the Deployment (version 7) and writes the status
//	         of the Foo (version 8).
//	1.001 s  The watch delivers version 7, its handler adds the key.
//	1.002 s  The cache shows the new Deployment and the old Foo, without a status. The
//	         reconcile writes the status again. The server answers 409 Conflict.
//	1.003 s  The watch delivers version 8.
//
// So each key waits until the cache shows its writes. kube-controller-manager does the
// same since v1.36 (pkg/controller/util/consistency).

// ErrCacheBehind says that the cache, the informers' stores, is older than what is known to be on the
// API server.
var ErrCacheBehind = errors.New("the cache is behind the API server")

// CacheRetry is when a key is reconciled again whose cache is behind. Usually the event that
// updates the cache adds the key within milliseconds.
const CacheRetry = time.Second

// outdatedTimeout is how long the cache is given to lose a version that was refused or deleted. Some
// stay: a webhook or a proxy has answered where the API server would have said something else.
const outdatedTimeout = 20 * time.Second

// PendingWrites holds, by key, what the API server has answered and the cache does not
// show yet. The zero value is ready. It is safe for concurrent use.
type PendingWrites struct {
	mu    sync.Mutex
	byKey map[cache.ObjectName][]pendingWrite
}

// pendingWrite is an answer of the API server: since when, and whether the cache shows it.
type pendingWrite struct {
	since      time.Time
	isObserved func() bool
}

// Await notes that the API server answered a request of key, a write or a get, with
// object. Observed then waits until store has reached its version, without a limit: the
// version exists, so the watch comes to it. Any object of the store may bring it there.
func (p *PendingWrites) Await(key cache.ObjectName, store cache.Store, object metav1.Object) {
	version := object.GetResourceVersion()
	p.add(key, func() bool { return atLeast(store, version) })
}

// AwaitChange notes how the API server answered a request for object, as it is in store: nil
// after a DELETE, which returns no version, or an error. After nil, Conflict and NotFound,
// the API server no longer has this version and would refuse it again. Observed then waits
// until store no longer has it, for outdatedTimeout at most: the answer may have been wrong.
func (p *PendingWrites) AwaitChange(key cache.ObjectName, store cache.Store, object metav1.Object, err error) {
	if err != nil && !isRace(err) {
		return
	}
	name, version, until := cache.MetaObjectToName(object), object.GetResourceVersion(), time.Now().Add(outdatedTimeout)
	p.add(key, func() bool {
		stored, _, _ := store.GetByKey(name.String()) // nil if there is none
		cached, ok := stored.(metav1.Object)
		return !ok || cached.GetResourceVersion() != version || !time.Now().Before(until)
	})
}

func (p *PendingWrites) add(key cache.ObjectName, isObserved func() bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byKey == nil {
		p.byKey = map[cache.ObjectName][]pendingWrite{}
	}
	p.byKey[key] = append(p.byKey[key], pendingWrite{time.Now(), isObserved})
}

// Observed reports whether the cache shows all that was noted for key. Then it forgets
// it. Call it before you read the cache: otherwise a stale read could be taken for fresh. It
// returns an error each minute for which it waits: a watch is open and delivers nothing, which
// nobody else notices.
func (p *PendingWrites) Observed(key cache.ObjectName) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, w := range p.byKey[key] {
		switch {
		case w.isObserved():
		case time.Since(w.since) > time.Minute:
			p.byKey[key][i].since = time.Now()
			return false, errors.New("the cache is behind the API server: for a minute no watch has shown what that answered")
		default:
			return false, nil
		}
	}
	delete(p.byKey, key)
	return true, nil
}

// atLeast reports whether a store has seen this resourceVersion. Versions of one
// resource are comparable. One that is not a number counts as seen: that of a fake, and of a
// store that keeps none, because client-go's feature gate AtomicFIFO (on by default) is off.
// A create or an update is not waited for then.
func atLeast(store cache.Store, version string) bool {
	order, err := resourceversion.CompareResourceVersion(store.LastStoreSyncResourceVersion(), version)
	return err != nil || order >= 0
}
