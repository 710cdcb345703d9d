package controller_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/controller"
)

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

func configMapAt(name, version string, owners ...metav1.OwnerReference) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, ResourceVersion: version, OwnerReferences: owners}}
}

func controllerRef(apiVersion, kind, name string, uid types.UID) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: name, UID: uid, Controller: new(true)}
}

// enqueueOwner returns the handler of ConfigMaps that Widgets control. Two Widgets wait for the name
// "wanted".
func enqueueOwner(queue controller.Queue) cache.ResourceEventHandler {
	return controller.EnqueueOwner(queue, schema.GroupKind{Group: "mine.example.com", Kind: "Widget"}, func(configMap metav1.Object) []cache.ObjectName {
		if configMap.GetName() != "wanted" {
			return nil
		}
		return []cache.ObjectName{named("first"), named("second")}
	})
}

func TestEnqueueObject(t *testing.T) {
	widget := &metav1.ObjectMeta{Namespace: "default", Name: "one"}
	for _, test := range []struct {
		reason string
		event  func(h cache.ResourceEventHandler)
	}{
		{"added", func(h cache.ResourceEventHandler) { h.OnAdd(widget, false) }},
		{"changed", func(h cache.ResourceEventHandler) { h.OnUpdate(widget, widget) }},
		{"deleted", func(h cache.ResourceEventHandler) { h.OnDelete(widget) }},
		{"a tombstone with the object", func(h cache.ResourceEventHandler) {
			h.OnDelete(cache.DeletedFinalStateUnknown{Key: "default/one", Obj: widget})
		}},
		{"a tombstone with only the key", func(h cache.ResourceEventHandler) {
			h.OnDelete(cache.DeletedFinalStateUnknown{Key: "default/one"})
		}},
		{"twice before a worker takes the key", func(h cache.ResourceEventHandler) { h.OnAdd(widget, true); h.OnUpdate(widget, widget) }},
	} {
		t.Run(test.reason, func(t *testing.T) {
			queue := controller.NewQueue("")
			test.event(controller.EnqueueObject(queue))
			if diff := cmp.Diff([]string{"default/one"}, keys(queue)); diff != "" {
				t.Errorf("keys (-want +got):\n%s", diff)
			}
		})
	}
}

// Only a new object, a new spec and a deletion end the back-off of a key.
func TestEventsThatEndBackOff(t *testing.T) {
	widget := func(uid types.UID, generation int64) *metav1.ObjectMeta {
		return &metav1.ObjectMeta{Namespace: "default", Name: "one", UID: uid, Generation: generation}
	}
	for _, test := range []struct {
		reason string
		event  func(h cache.ResourceEventHandler)
		ends   bool
	}{
		{"added", func(h cache.ResourceEventHandler) { h.OnAdd(widget("1", 1), false) }, true},
		{"a new spec", func(h cache.ResourceEventHandler) { h.OnUpdate(widget("1", 1), widget("1", 2)) }, true},
		{"a new object with the same name", func(h cache.ResourceEventHandler) { h.OnUpdate(widget("1", 1), widget("2", 1)) }, true},
		{"deleted", func(h cache.ResourceEventHandler) { h.OnDelete(widget("1", 1)) }, true},
		{"the same spec", func(h cache.ResourceEventHandler) { h.OnUpdate(widget("1", 1), widget("1", 1)) }, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			queue := controller.NewQueue("")
			queue.AddRateLimited(oneKey)
			test.event(controller.EnqueueObject(queue))
			if got := queue.NumRequeues(oneKey) == 0; got != test.ends {
				t.Errorf("the back-off ends: %t, want %t", got, test.ends)
			}
		})
	}
}

// A change of a ConfigMap enqueues the Widget that controls it and the Widgets that wait for its name.
func TestEnqueueOwner(t *testing.T) {
	ownerRef := controllerRef("mine.example.com/v1alpha1", "Widget", "owner", "uid")
	olderVersion := controllerRef("mine.example.com/v1beta7", "Widget", "owner", "uid")
	newOwner := controllerRef("mine.example.com/v1alpha1", "Widget", "thief", "uid2")
	replicaSet := controllerRef("apps/v1", "ReplicaSet", "owner", "uid")
	notController := ownerRef
	notController.Controller = nil

	for _, test := range []struct {
		reason string
		event  func(h cache.ResourceEventHandler)
		want   []string
	}{
		{"controlled by a Widget", func(h cache.ResourceEventHandler) { h.OnAdd(configMapAt("d", "1", ownerRef), false) }, []string{"default/owner"}},
		{"controlled by a Widget of another version", func(h cache.ResourceEventHandler) { h.OnAdd(configMapAt("d", "1", olderVersion), false) }, []string{"default/owner"}},
		{"controlled by a Widget of another group", func(h cache.ResourceEventHandler) {
			h.OnAdd(configMapAt("d", "1", controllerRef("example.org/v1", "Widget", "owner", "uid")), false)
		}, nil},
		{"controlled by another kind", func(h cache.ResourceEventHandler) { h.OnAdd(configMapAt("d", "1", replicaSet), false) }, nil},
		{"owned, but not controlled", func(h cache.ResourceEventHandler) { h.OnAdd(configMapAt("d", "1", notController), false) }, nil},
		{"named by two Widgets", func(h cache.ResourceEventHandler) { h.OnAdd(configMapAt("wanted", "1"), false) }, []string{"default/first", "default/second"}},
		{"changed", func(h cache.ResourceEventHandler) {
			h.OnUpdate(configMapAt("d", "1", ownerRef), configMapAt("d", "2", ownerRef))
		}, []string{"default/owner"}},
		{"taken by another Widget: both are enqueued", func(h cache.ResourceEventHandler) {
			h.OnUpdate(configMapAt("d", "1", ownerRef), configMapAt("d", "2", newOwner))
		}, []string{"default/owner", "default/thief"}},
		{"taken, and other Widgets wait for its name", func(h cache.ResourceEventHandler) {
			h.OnUpdate(configMapAt("wanted", "1"), configMapAt("wanted", "2", ownerRef))
		}, []string{"default/first", "default/owner", "default/second"}},
		{"released", func(h cache.ResourceEventHandler) {
			h.OnUpdate(configMapAt("wanted", "1", ownerRef), configMapAt("wanted", "2"))
		}, []string{"default/first", "default/owner", "default/second"}},
		{"terminating", func(h cache.ResourceEventHandler) {
			deleted := configMapAt("wanted", "2")
			deleted.DeletionTimestamp = new(metav1.Now())
			h.OnUpdate(configMapAt("wanted", "1"), deleted)
		}, []string{"default/first", "default/second"}},
		{"a resync: the Widgets have their own", func(h cache.ResourceEventHandler) {
			h.OnUpdate(configMapAt("wanted", "1", ownerRef), configMapAt("wanted", "1", ownerRef))
		}, nil},
		{"deleted", func(h cache.ResourceEventHandler) { h.OnDelete(configMapAt("wanted", "1", ownerRef)) }, []string{"default/first", "default/owner", "default/second"}},
		{"a tombstone with the object", func(h cache.ResourceEventHandler) {
			h.OnDelete(cache.DeletedFinalStateUnknown{Key: "default/wanted", Obj: configMapAt("wanted", "1", ownerRef)})
		}, []string{"default/first", "default/owner", "default/second"}},
		{"a tombstone with only the key", func(h cache.ResourceEventHandler) {
			h.OnDelete(cache.DeletedFinalStateUnknown{Key: "default/wanted"})
		}, nil},
	} {
		t.Run(test.reason, func(t *testing.T) {
			queue := controller.NewQueue("")
			test.event(enqueueOwner(queue))
			if diff := cmp.Diff(test.want, keys(queue)); diff != "" {
				t.Errorf("keys (-want +got):\n%s", diff)
			}
		})
	}
}
