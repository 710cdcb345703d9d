package verdict

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/internal/tests/oracle"
)

// Snapshot returns the Deployments and the status as text, without values that differ between runs.
func (h *History) Snapshot(namespace string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	now, names := map[string]any{}, []string{namespace, "NAMESPACE"}
	for _, f := range h.Foos {
		now["Foo "+f.Name] = map[string]any{"availableReplicas": f.Status.AvailableReplicas}
		names = append(names, string(f.UID), "UID-OF-"+f.Name)
	}
	for _, d := range h.deployments {
		now["Deployment "+d.Name] = map[string]any{"owners": d.OwnerReferences, "spec": d.Spec}
	}
	return strings.NewReplacer(names...).Replace(MustYAML(now))
}

// Names returns the names of the Foos and of the Deployments.
func (h *History) Names() (foos, deployments []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Keys(h.Foos)), slices.Collect(maps.Keys(h.deployments))
}

// History has every version of every Foo and Deployment in one namespace. The judge's two informers deliver
// them, without the proxy. A list would show only the end: not a second Deployment that existed briefly, nor a
// foreign one that was changed and restored. An informer misses versions if it lists again: after the API
// server was killed, or the schema replaced.
type History struct {
	Stop     func()
	Unplayed bool         // no Deployment ever gets a Pod
	Most     atomic.Int32 // how many Pods a Deployment gets

	mu          sync.Mutex
	versions    []version
	Foos        map[string]*v1alpha1.Foo      // by name, the newest version
	deployments map[string]*appsv1.Deployment // by name, the newest version
	first       map[types.UID]*appsv1.Deployment
	mine        map[string]bool    // the resourceVersions that the judge wrote
	removed     map[types.UID]bool // what the judge deleted
	// newest is the newest revision of each object. awaited and awaitedGone are writes and deletions of the
	// judge that the informers have not delivered yet. Until then no verdict is possible.
	newest, awaited map[types.UID]uint64
	awaitedGone     map[types.UID]bool
}

// version is one revision of a Foo or of a Deployment.
type version struct {
	revision   uint64
	at         time.Time // when the judge received it
	foo        *v1alpha1.Foo
	deployment *appsv1.Deployment
	deleted    bool
}

func NewHistory() *History {
	h := &History{Stop: func() {}, Foos: map[string]*v1alpha1.Foo{}, deployments: map[string]*appsv1.Deployment{}, first: map[types.UID]*appsv1.Deployment{},
		mine: map[string]bool{}, removed: map[types.UID]bool{}, newest: map[types.UID]uint64{}, awaited: map[types.UID]uint64{}, awaitedGone: map[types.UID]bool{}}
	h.Most.Store(math.MaxInt32)
	return h
}

// Add adds a version.
func (h *History) Add(object metav1.Object, deleted bool) {
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
		if h.Foos[v.foo.Name] = v.foo; deleted {
			delete(h.Foos, v.foo.Name)
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

// Wrote records a version that the judge wrote.
func (h *History) Wrote(object metav1.Object) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mine[object.GetResourceVersion()] = true
	if revision, _ := strconv.ParseUint(object.GetResourceVersion(), 10, 64); revision > h.newest[object.GetUID()] {
		h.awaited[object.GetUID()] = revision
	}
}

// WillRemove records an object that the judge is about to delete.
func (h *History) WillRemove(uid types.UID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.removed[uid], h.awaitedGone[uid] = true, true
}

// Behind reports whether the informers have not delivered all of the judge's actions yet.
func (h *History) Behind() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.awaited)+len(h.awaitedGone) > 0
}

// sorted returns the versions in the order in which the API server stored them. The two watches are not in
// step, but etcd's revisions are one sequence for all resources.
func (h *History) sorted() []version {
	h.mu.Lock()
	defer h.mu.Unlock()
	versions := slices.Clone(h.versions)
	slices.SortStableFunc(versions, func(a, b version) int { return cmp.Compare(a.revision, b.revision) })
	return versions
}

// Changes returns the number of versions.
func (h *History) Changes() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.versions)
}

// readFoo converts the fields that the Go type can hold. A spec that it cannot hold gets an impossible value:
// no name, or -1 replicas.
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

// MayHave returns how many Pods a Deployment gets.
func (h *History) MayHave(d *appsv1.Deployment) int32 { return min(oracle.Replicas(d), h.Most.Load()) }

// Unfinished returns the Deployments that their controller has not finished.
func (h *History) Unfinished() (all []*appsv1.Deployment) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, d := range h.deployments {
		if d.DeletionTimestamp != nil || d.Status.ObservedGeneration != d.Generation || d.Status.AvailableReplicas != h.MayHave(d) {
			all = append(all, d)
		}
	}
	return all
}

// StatusChangedSince reports whether the available replicas of a Deployment have changed since the history
// had this many versions. Then the program may have had something to do.
func (h *History) StatusChangedSince(versions int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	last := map[types.UID]*appsv1.Deployment{}
	for i, v := range h.versions {
		if v.deployment == nil {
			continue
		}
		before := last[v.deployment.UID]
		if last[v.deployment.UID] = v.deployment; i >= versions && before != nil && before.Generation == v.deployment.Generation && before.Status.AvailableReplicas != v.deployment.Status.AvailableReplicas {
			return true
		}
	}
	return false
}

func (h *History) Foo(name string) *v1alpha1.Foo {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.Foos[name]
}

func (h *History) Deployment(name string) *appsv1.Deployment {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.deployments[name]
}
