package court

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

// history is every version of every Foo and Deployment of one namespace, as two informers of
// the judge bring them, past the proxy. A list would show the end alone: a second
// Deployment that lived for a moment, or a foreign one that was written and written back,
// would be missed. (Versions are missed when an informer has to list again: after the
// API server was killed, or the schema replaced.)
type history struct {
	stop     func()
	unplayed bool         // no Deployment ever gets a Pod
	most     atomic.Int32 // how many Pods a Deployment gets

	mu          sync.Mutex
	versions    []version
	foos        map[string]*v1alpha1.Foo      // by name, the newest version
	deployments map[string]*appsv1.Deployment // by name, the newest version
	first       map[types.UID]*appsv1.Deployment
	mine        map[string]bool    // the resourceVersions that the judge wrote
	removed     map[types.UID]bool // what the judge deleted
	// The newest revision of each object, and what the judge itself did that the informers
	// have not brought yet. Until then nothing can be said.
	newest, awaited map[types.UID]uint64
	awaitedGone     map[types.UID]bool
}

// version is one revision of an object: of a Foo or of a Deployment.
type version struct {
	revision   uint64
	at         time.Time // when the judge heard of it
	foo        *v1alpha1.Foo
	deployment *appsv1.Deployment
	deleted    bool
}

func newHistory() *history {
	h := &history{stop: func() {}, foos: map[string]*v1alpha1.Foo{}, deployments: map[string]*appsv1.Deployment{}, first: map[types.UID]*appsv1.Deployment{},
		mine: map[string]bool{}, removed: map[types.UID]bool{}, newest: map[types.UID]uint64{}, awaited: map[types.UID]uint64{}, awaitedGone: map[types.UID]bool{}}
	h.most.Store(math.MaxInt32)
	return h
}

// follow begins a history of a namespace, in which nothing has happened yet.
func (s *stage) follow(ctx context.Context, namespace string) (*history, error) {
	ctx, cancel := context.WithCancel(ctx)
	h := newHistory()
	var running sync.WaitGroup
	h.stop = func() { cancel(); running.Wait() }
	foos, deployments := s.foos(namespace), s.kube.AppsV1().Deployments(namespace)
	handler := cache.ResourceEventHandlerFuncs{
		AddFunc: func(now any) { h.add(now.(metav1.Object), false) },
		UpdateFunc: func(before, now any) {
			if before.(metav1.Object).GetUID() != now.(metav1.Object).GetUID() {
				h.add(before.(metav1.Object), true) // The deletion was missed.
			}
			h.add(now.(metav1.Object), false)
		},
		DeleteFunc: func(last any) {
			if tombstone, missed := last.(cache.DeletedFinalStateUnknown); missed {
				last = tombstone.Obj
			}
			h.add(last.(metav1.Object), true)
		},
	}
	for _, o := range []cache.InformerOptions{
		{ObjectType: &unstructured.Unstructured{}, Handler: handler, ListerWatcher: listWatch(foos.List, foos.Watch)},
		{ObjectType: &appsv1.Deployment{}, Handler: handler, ListerWatcher: listWatch(deployments.List, deployments.Watch)},
	} {
		_, informer := cache.NewInformerWithOptions(o)
		running.Go(func() { informer.RunWithContext(ctx) })
		if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
			h.stop()
			return nil, context.Cause(ctx)
		}
	}
	return h, nil
}

// listWatch is what an informer reads, by these methods of a client.
func listWatch[L runtime.Object](list func(context.Context, metav1.ListOptions) (L, error), watch cache.WatchFuncWithContext) *cache.ListWatch {
	return &cache.ListWatch{
		ListWithContextFunc:  func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return list(ctx, o) },
		WatchFuncWithContext: watch,
	}
}

// add adds a version.
func (h *history) add(object metav1.Object, deleted bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	v := version{at: time.Now(), deleted: deleted}
	v.revision, _ = strconv.ParseUint(object.GetResourceVersion(), 10, 64)
	switch object := object.(type) {
	case *appsv1.Deployment:
		v.deployment = object
		if h.first[object.UID] == nil {
			h.first[object.UID] = object
		}
		if h.deployments[object.Name] = object; deleted {
			delete(h.deployments, object.Name)
		}
	case *unstructured.Unstructured:
		v.foo = readFoo(object)
		if h.foos[v.foo.Name] = v.foo; deleted {
			delete(h.foos, v.foo.Name)
		}
	}
	h.versions = append(h.versions, v)

	uid := object.GetUID()
	if h.newest[uid] = max(h.newest[uid], v.revision); deleted || h.newest[uid] >= h.awaited[uid] {
		delete(h.awaited, uid)
	}
	if deleted || object.GetDeletionTimestamp() != nil {
		delete(h.awaitedGone, uid)
	}
}

// wrote notes that the judge wrote this version.
func (h *history) wrote(object metav1.Object) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mine[object.GetResourceVersion()] = true
	if revision, _ := strconv.ParseUint(object.GetResourceVersion(), 10, 64); revision > h.newest[object.GetUID()] {
		h.awaited[object.GetUID()] = revision
	}
}

// willRemove notes that the judge is about to delete an object.
func (h *history) willRemove(uid types.UID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.removed[uid], h.awaitedGone[uid] = true, true
}

// behind reports whether the informers have yet to bring what the judge did.
func (h *history) behind() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.awaited)+len(h.awaitedGone) > 0
}

// sorted returns the versions in the order in which the API server stored them. The two
// watches are not in step; the revisions are etcd's, one sequence for all resources.
func (h *history) sorted() []version {
	h.mu.Lock()
	defer h.mu.Unlock()
	versions := slices.Clone(h.versions)
	slices.SortStableFunc(versions, func(a, b version) int { return cmp.Compare(a.revision, b.revision) })
	return versions
}

// changes returns how many versions there are.
func (h *history) changes() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.versions)
}

// readFoo takes from an object what the Go type can hold. A Foo whose spec it cannot hold
// asks for what no Deployment can be.
func readFoo(object *unstructured.Unstructured) *v1alpha1.Foo {
	f := &v1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{
		Name: object.GetName(), UID: object.GetUID(), ResourceVersion: object.GetResourceVersion(),
		Generation: object.GetGeneration(), DeletionTimestamp: object.GetDeletionTimestamp(),
	}}
	spec, _, _ := unstructured.NestedMap(object.Object, "spec")
	f.Spec.DeploymentName, _ = spec["deploymentName"].(string)
	if replicas, is := spec["replicas"].(int64); is && int64(int32(replicas)) == replicas {
		f.Spec.Replicas = new(int32(replicas))
	} else if spec["replicas"] != nil {
		f.Spec.Replicas = new(int32(-1))
	}
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, c := range conditions {
		if condition, ok := c.(map[string]any); ok {
			f.Status.Conditions = append(f.Status.Conditions, metav1.Condition{Type: fmt.Sprint(condition["type"]), Status: metav1.ConditionStatus(fmt.Sprint(condition["status"]))})
		}
	}
	available, _, _ := unstructured.NestedInt64(object.Object, "status", "availableReplicas")
	f.Status.AvailableReplicas = int32(available)
	return f
}
