package controller

import (
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
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

// readYourWritesTimeout is how long a key waits. Some versions never come: after a Conflict
// that a webhook invented, or when a backup is restored. Then give up waiting and trust
// the cache; optimistic locking catches the error.
const readYourWritesTimeout = 30 * time.Second

// PendingWrites holds, by key, the writes that the cache does not show yet. It serves
// any kind. The zero value is ready. It is safe for concurrent use.
type PendingWrites struct {
	// Now is time.Now if it is nil. A test sets it to move the clock.
	Now func() time.Time

	mu    sync.Mutex
	byKey map[cache.ObjectName]*pendingWrites
}

type pendingWrites struct {
	writes []pendingWrite
	since  time.Time
}

// Write is the outcome of one request.
type Write struct {
	// Store is the cache of the object.
	Store cache.Store
	// Before is the object in Store. nil: a create or a get.
	Before metav1.Object
	// After is the object that the API server returned. nil: a delete.
	After metav1.Object
	Err   error
}

// pendingWrite is what to wait for after a Write: a store must reach this version, or, if
// it is outdated, no longer have it.
type pendingWrite struct {
	store    cache.Store
	name     cache.ObjectName
	version  string
	outdated bool
}

func (w pendingWrite) isObserved() bool {
	if !w.outdated {
		return atLeast(w.store, w.version)
	}
	cached, ok := get[metav1.Object](w.store, w.name)
	return !ok || cached.GetResourceVersion() != w.version
}

// Record notes the writes of a reconcile of key. Observed then waits
//
//   - after a create, update or get: until the store has reached the version of After.
//   - after a delete, or a write that was refused with Conflict or NotFound: until the
//     store no longer has the version of Before. The API server would refuse it again.
//
// Nothing is waited for after another error: nobody knows whether the write took place.
func (p *PendingWrites) Record(key cache.ObjectName, writes ...Write) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byKey == nil {
		p.byKey = map[cache.ObjectName]*pendingWrites{}
	}
	for _, w := range writes {
		pending := pendingWrite{store: w.Store}
		switch refused := apierrors.IsConflict(w.Err) || apierrors.IsNotFound(w.Err); {
		case w.Err == nil && w.After != nil:
			pending.version = w.After.GetResourceVersion()
		case w.Before != nil && (w.Err == nil || refused):
			pending.outdated, pending.name, pending.version = true, cache.MetaObjectToName(w.Before), w.Before.GetResourceVersion()
		default:
			continue
		}
		if p.byKey[key] == nil {
			p.byKey[key] = &pendingWrites{since: p.now()}
		}
		p.byKey[key].writes = append(p.byKey[key].writes, pending)
	}
}

// Observed reports whether the cache shows every write that was recorded for key, or
// has had readYourWritesTimeout to do so. Then it forgets them. Call it before you read
// the cache. Otherwise a stale read could be taken for fresh.
func (p *PendingWrites) Observed(key cache.ObjectName) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	pending := p.byKey[key]
	if pending == nil {
		return true
	}
	behind := slices.ContainsFunc(pending.writes, func(w pendingWrite) bool { return !w.isObserved() })
	if behind && p.now().Sub(pending.since) < readYourWritesTimeout {
		return false
	}
	delete(p.byKey, key)
	return true
}

func (p *PendingWrites) now() time.Time {
	if p.Now != nil {
		return p.Now()
	}
	return time.Now()
}

// atLeast reports whether a store has seen this resourceVersion. Versions of one
// resource are comparable. One that is not a number counts as seen: a fake's, and
// that of every store if client-go's feature gate AtomicFIFO is off. A create or an
// update is not waited for then.
func atLeast(store cache.Store, version string) bool {
	order, err := resourceversion.CompareResourceVersion(store.LastStoreSyncResourceVersion(), version)
	return err != nil || order >= 0
}
