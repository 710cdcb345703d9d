package main

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	watchtools "k8s.io/client-go/tools/watch"
)

// history is every version of every Foo and Deployment of one namespace, as two watches of
// the judge bring them, past the proxy. A list would show the end alone: a second
// Deployment that lived for a moment, or a foreign one that was written and written back,
// would be missed.
type history struct {
	stop func()

	mu          sync.Mutex
	versions    []version
	foos        map[string]*foo               // by name, the newest version
	deployments map[string]*appsv1.Deployment // by name, the newest version
	first       map[types.UID]*appsv1.Deployment
	mine        map[string]bool    // the resourceVersions that the judge wrote
	removed     map[types.UID]bool // what the judge deleted
	broken      error              // a watch has ended: nothing can be judged
	unplayed    bool               // no Deployment ever gets a Pod
}

// version is one revision of an object: of a Foo or of a Deployment.
type version struct {
	revision   uint64
	at         time.Time // when the judge heard of it
	foo        *foo
	deployment *appsv1.Deployment
	deleted    bool
}

// foo is what the judge reads of a Foo. It is not the Go type: the judge must be able to
// read Foos that this type cannot hold.
type foo struct {
	name           string
	uid            types.UID
	resource       string // resourceVersion
	generation     int64
	deploymentName string
	replicas       *int64
	available      int64
	deleting       bool
	// sane: a Deployment as asked can exist.
	sane bool
}

// watchable is what both clients have.
type watchable func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error)

// WatchWithContext implements cache.WatcherWithContext.
func (w watchable) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	return w(ctx, options)
}

// follow begins a history of a namespace with what happens after this resourceVersion.
func (w *world) follow(ctx context.Context, namespace, from string) (*history, error) {
	ctx, cancel := context.WithCancel(ctx)
	h := &history{foos: map[string]*foo{}, deployments: map[string]*appsv1.Deployment{}, first: map[types.UID]*appsv1.Deployment{}, mine: map[string]bool{}, removed: map[types.UID]bool{}}
	var running sync.WaitGroup
	h.stop = func() { cancel(); running.Wait() }
	for _, watch := range []watchable{w.foos(namespace).Watch, w.kube.AppsV1().Deployments(namespace).Watch} {
		watcher, err := watchtools.NewRetryWatcherWithContext(ctx, from, watch)
		if err != nil {
			h.stop()
			return nil, err
		}
		running.Go(func() {
			for event := range watcher.ResultChan() {
				h.add(event)
			}
			h.mu.Lock()
			defer h.mu.Unlock()
			if ctx.Err() == nil {
				h.broken = errors.New("the judge's own watch has ended; nothing can be judged")
			}
		})
	}
	return h, nil
}

func (h *history) add(event watch.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if event.Type == watch.Bookmark {
		return
	}
	v := version{at: time.Now(), deleted: event.Type == watch.Deleted}
	switch object := event.Object.(type) {
	case *appsv1.Deployment:
		object.TypeMeta = metav1.TypeMeta{}
		v.deployment = object
		v.revision, _ = strconv.ParseUint(object.ResourceVersion, 10, 64)
		if h.first[object.UID] == nil {
			h.first[object.UID] = object
		}
		if h.deployments[object.Name] = object; v.deleted {
			delete(h.deployments, object.Name)
		}
	case *unstructured.Unstructured:
		v.foo = readFoo(object)
		v.revision, _ = strconv.ParseUint(v.foo.resource, 10, 64)
		if h.foos[v.foo.name] = v.foo; v.deleted {
			delete(h.foos, v.foo.name)
		}
	case *metav1.Status:
		h.broken = errors.New("the judge's own watch has failed: " + object.Message)
		return
	default:
		return
	}
	h.versions = append(h.versions, v)
}

// wrote notes that the judge wrote this version, and returns err.
func (h *history) wrote(object metav1.Object, err error) error {
	if err == nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.mine[object.GetResourceVersion()] = true
	}
	return err
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

// readFoo takes from an object what it can.
func readFoo(object *unstructured.Unstructured) *foo {
	f := &foo{
		name: object.GetName(), uid: object.GetUID(), resource: object.GetResourceVersion(),
		generation: object.GetGeneration(), deleting: object.GetDeletionTimestamp() != nil,
	}
	spec, _, _ := unstructured.NestedMap(object.Object, "spec")
	f.deploymentName, _ = spec["deploymentName"].(string)
	f.sane = len(validation.NameIsDNSSubdomain(f.deploymentName, false)) == 0
	switch replicas := spec["replicas"].(type) {
	case nil:
	case int64:
		f.replicas = &replicas
		f.sane = f.sane && replicas >= 0 && replicas <= math.MaxInt32
	default:
		f.sane = false
	}
	f.available, _, _ = unstructured.NestedInt64(object.Object, "status", "availableReplicas")
	return f
}

// controllerOf returns the UID of the Foo that controls a Deployment, "" if none does.
func controllerOf(d *appsv1.Deployment) types.UID {
	if owner := metav1.GetControllerOf(d); owner != nil && owner.Kind == "Foo" {
		return owner.UID
	}
	return ""
}

// replicasOf returns what a Deployment asks for.
func replicasOf(d *appsv1.Deployment) int64 {
	if d.Spec.Replicas == nil {
		return 1
	}
	return int64(*d.Spec.Replicas)
}
