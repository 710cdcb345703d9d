package controller_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/controller"
	"example.com/byhand/informer"
)

// keys empties the queue.
func keys(queue controller.Queue) []string {
	var got []string
	for queue.Len() > 0 {
		key, _ := queue.Get()
		queue.Done(key)
		got = append(got, key.String())
	}
	slices.Sort(got)
	return got
}

func deploymentAt(name, version string, owners ...metav1.OwnerReference) *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, ResourceVersion: version, OwnerReferences: owners}}
}

func controllerRef(apiVersion, kind, name string, uid types.UID) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: name, UID: uid, Controller: new(true)}
}

// enqueueOwner returns what main wires: the handler of the Deployment informer, over
// these Foos.
func enqueueOwner(foos cache.Indexer, queue controller.Queue) cache.ResourceEventHandler {
	return controller.EnqueueOwner(queue, v1alpha1.Kind("Foo"), func(deployment cache.ObjectName) []cache.ObjectName {
		return informer.FoosNaming(foos, deployment)
	})
}

// Whatever happens to an object, its key is enqueued, once.
func TestEnqueueObject(t *testing.T) {
	foo := &v1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "foo"}}
	for _, test := range []struct {
		reason string
		event  func(h cache.ResourceEventHandler)
	}{
		{"added", func(h cache.ResourceEventHandler) { h.OnAdd(foo, false) }},
		{"changed", func(h cache.ResourceEventHandler) { h.OnUpdate(foo, foo) }},
		{"deleted", func(h cache.ResourceEventHandler) { h.OnDelete(foo) }},
		{"a tombstone with the object", func(h cache.ResourceEventHandler) {
			h.OnDelete(cache.DeletedFinalStateUnknown{Key: "default/foo", Obj: foo})
		}},
		{"a tombstone with only the key", func(h cache.ResourceEventHandler) {
			h.OnDelete(cache.DeletedFinalStateUnknown{Key: "default/foo"})
		}},
		{"twice before a worker comes", func(h cache.ResourceEventHandler) { h.OnAdd(foo, true); h.OnUpdate(foo, foo) }},
	} {
		t.Run(test.reason, func(t *testing.T) {
			queue := controller.NewPriorityQueue("")
			test.event(controller.EnqueueObject(queue))
			if diff := cmp.Diff([]string{"default/foo"}, keys(queue)); diff != "" {
				t.Errorf("keys (-want +got):\n%s", diff)
			}
		})
	}
}

// A Deployment's change wakes the Foo that controls it and the Foos that name it.
func TestEnqueueOwner(t *testing.T) {
	fooRef := controllerRef("samplecontroller.k8s.io/v1alpha1", "Foo", "owner", "uid")
	olderVersion := controllerRef("samplecontroller.k8s.io/v1beta7", "Foo", "owner", "uid")
	newOwner := controllerRef("samplecontroller.k8s.io/v1alpha1", "Foo", "thief", "uid2")
	replicaSet := controllerRef("apps/v1", "ReplicaSet", "owner", "uid")
	notController := fooRef
	notController.Controller = nil

	for _, test := range []struct {
		reason string
		event  func(h cache.ResourceEventHandler)
		want   []string
	}{
		{"controlled by a Foo", func(h cache.ResourceEventHandler) { h.OnAdd(deploymentAt("d", "1", fooRef), false) }, []string{"default/owner"}},
		{"controlled by a Foo of another version", func(h cache.ResourceEventHandler) { h.OnAdd(deploymentAt("d", "1", olderVersion), false) }, []string{"default/owner"}},
		{"controlled by another kind", func(h cache.ResourceEventHandler) { h.OnAdd(deploymentAt("d", "1", replicaSet), false) }, nil},
		{"owned, but not controlled", func(h cache.ResourceEventHandler) { h.OnAdd(deploymentAt("d", "1", notController), false) }, nil},
		{"named by two Foos", func(h cache.ResourceEventHandler) { h.OnAdd(deploymentAt("wanted", "1"), false) }, []string{"default/first", "default/second"}},
		{"changed", func(h cache.ResourceEventHandler) {
			h.OnUpdate(deploymentAt("d", "1", fooRef), deploymentAt("d", "2", fooRef))
		}, []string{"default/owner"}},
		{"taken by another Foo: both must know", func(h cache.ResourceEventHandler) {
			h.OnUpdate(deploymentAt("d", "1", fooRef), deploymentAt("d", "2", newOwner))
		}, []string{"default/owner", "default/thief"}},
		{"a change that those who wait for its name do not wait for", func(h cache.ResourceEventHandler) {
			h.OnUpdate(deploymentAt("wanted", "1", fooRef), deploymentAt("wanted", "2", fooRef))
		}, []string{"default/owner"}},
		{"the same of one that nobody controls", func(h cache.ResourceEventHandler) {
			h.OnUpdate(deploymentAt("wanted", "1", notController), deploymentAt("wanted", "2"))
		}, nil},
		{"taken, and others wait for its name", func(h cache.ResourceEventHandler) {
			h.OnUpdate(deploymentAt("wanted", "1"), deploymentAt("wanted", "2", fooRef))
		}, []string{"default/first", "default/owner", "default/second"}},
		{"let go", func(h cache.ResourceEventHandler) {
			h.OnUpdate(deploymentAt("wanted", "1", fooRef), deploymentAt("wanted", "2"))
		}, []string{"default/first", "default/owner", "default/second"}},
		{"it is being deleted", func(h cache.ResourceEventHandler) {
			deleted := deploymentAt("wanted", "2")
			deleted.DeletionTimestamp = new(metav1.Now())
			h.OnUpdate(deploymentAt("wanted", "1"), deleted)
		}, []string{"default/first", "default/second"}},
		{"a resync, which the Foos have themselves", func(h cache.ResourceEventHandler) {
			h.OnUpdate(deploymentAt("wanted", "1", fooRef), deploymentAt("wanted", "1", fooRef))
		}, nil},
		{"deleted", func(h cache.ResourceEventHandler) { h.OnDelete(deploymentAt("wanted", "1", fooRef)) }, []string{"default/first", "default/owner", "default/second"}},
		{"a tombstone with the object", func(h cache.ResourceEventHandler) {
			h.OnDelete(cache.DeletedFinalStateUnknown{Key: "default/wanted", Obj: deploymentAt("wanted", "1", fooRef)})
		}, []string{"default/first", "default/owner", "default/second"}},
		{"a tombstone with only the key", func(h cache.ResourceEventHandler) {
			h.OnDelete(cache.DeletedFinalStateUnknown{Key: "default/wanted"})
		}, []string{"default/first", "default/second"}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			foos := cache.NewIndexer(cache.MetaNamespaceKeyFunc, informer.FooIndexers())
			for _, foo := range []*v1alpha1.Foo{
				{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "first"}, Spec: v1alpha1.FooSpec{DeploymentName: "wanted"}},
				{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "second"}, Spec: v1alpha1.FooSpec{DeploymentName: "wanted"}},
				{ObjectMeta: metav1.ObjectMeta{Namespace: "elsewhere", Name: "third"}, Spec: v1alpha1.FooSpec{DeploymentName: "wanted"}},
			} {
				if err := foos.Add(foo); err != nil {
					t.Fatal(err)
				}
			}
			queue := controller.NewPriorityQueue("")
			test.event(enqueueOwner(foos, queue))
			if diff := cmp.Diff(test.want, keys(queue)); diff != "" {
				t.Errorf("keys (-want +got):\n%s", diff)
			}
		})
	}
}
