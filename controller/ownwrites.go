package controller

import (
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/informer"
)

// lookAgain is how long a reconcile waits at the most for a store that is behind.
// The event that brings the store up to date usually wakes it within
// milliseconds.
const lookAgain = time.Second

// patience is how long a key waits for its writes to come back. Some never do: a
// Conflict without a newer version, a backup that was restored. Then the store's
// word has to do; if it is old, the API server refuses what comes of it.
const patience = 30 * time.Second

// ownWrites remembers, per Foo, what this process wrote and the stores may not
// show yet. A reconcile that took an old store for the truth would create a
// Deployment twice, undo its own status, or be refused with a Conflict of its own
// making.
type ownWrites struct {
	mu    sync.Mutex
	byKey map[cache.ObjectName]*unseen
}

// unseen needs no lock: one key has one worker at a time.
type unseen struct {
	// The newest resourceVersions that the server returned to us. "" is none.
	foo, deployment string
	// The resourceVersions that the server refused with a Conflict. To send one of
	// them again would be refused again.
	refusedFoo, refusedDeployment string
	// The Deployments that were deleted. A DELETE returns no resourceVersion.
	deleted map[cache.ObjectName]types.UID
	// When any of these was last added to.
	since time.Time
}

// of returns what is remembered for key, for the caller to add to.
func (o *ownWrites) of(key cache.ObjectName) *unseen {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.byKey == nil {
		o.byKey = map[cache.ObjectName]*unseen{}
	}
	if o.byKey[key] == nil {
		o.byKey[key] = &unseen{deleted: map[cache.ObjectName]types.UID{}}
	}
	o.byKey[key].since = time.Now()
	return o.byKey[key]
}

func (o *ownWrites) forget(key cache.ObjectName) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.byKey, key)
}

// shown reports whether the stores have caught up with what was written for key,
// or will not, and if so forgets it. Call it before reading the stores: one that
// catches up between a read and the call would make the old object pass for new.
func (o *ownWrites) shown(key cache.ObjectName, foos, deployments cache.Indexer) bool {
	o.mu.Lock()
	u := o.byKey[key]
	o.mu.Unlock()
	if u == nil {
		return true
	}
	if time.Since(u.since) < patience && u.ahead(key, foos, deployments) {
		return false
	}
	o.forget(key)
	return true
}

// ahead reports whether the stores do not yet show all of u.
func (u *unseen) ahead(key cache.ObjectName, foos, deployments cache.Indexer) bool {
	if !reached(foos, u.foo) || !reached(deployments, u.deployment) {
		return true
	}
	if foo, ok := get[*v1alpha1.Foo](foos, key); ok {
		if u.refusedFoo != "" && u.refusedFoo == foo.ResourceVersion {
			return true
		}
		for _, deployment := range informer.DeploymentsOf(deployments, foo.UID) {
			if u.refusedDeployment != "" && u.refusedDeployment == deployment.ResourceVersion {
				return true
			}
		}
	}
	for name, uid := range u.deleted {
		stored, ok := get[*appsv1.Deployment](deployments, name)
		if ok && stored.UID == uid && stored.DeletionTimestamp == nil {
			return true
		}
	}
	return false
}

// reached reports whether a store has seen this resourceVersion. Versions of one
// resource are comparable; one that is not a number comes from a fake, which has
// no lag to wait for.
func reached(store cache.Store, version string) bool {
	order, err := resourceversion.CompareResourceVersion(store.LastStoreSyncResourceVersion(), version)
	return err != nil || order >= 0
}

// get returns the object that a store holds under key. It is shared: do not
// change it.
func get[T any](store cache.Store, key cache.ObjectName) (obj T, ok bool) {
	stored, exists, err := store.GetByKey(key.String())
	if err != nil || !exists {
		return obj, false
	}
	obj, ok = stored.(T)
	return obj, ok
}
