package foo_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/controller"
	"example.com/byhand/controller/foo"
)

func spec(deploymentName string, replicas int32) v1alpha1.FooSpec {
	return v1alpha1.FooSpec{DeploymentName: deploymentName, Replicas: &replicas}
}

func controllerRef(apiVersion, kind, name string, uid types.UID) metav1.OwnerReference {
	yes := true
	return metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: name, UID: uid, Controller: &yes}
}

// A new Foo costs two writes, its Deployment and its status, and then none.
func TestCreate(t *testing.T) {
	w := newWorld(t)
	foo := w.createFoo("foo", spec("deployment", 3))
	w.syncAndReconcile()
	w.sent("POST deployments", "PUT foos/foo/status")
	w.told("Normal Created Created Deployment deployment")
	w.ready("foo", v1alpha1.ReasonWaitingForReplicas)

	deployment := w.deployment("deployment")
	owner := metav1.GetControllerOf(deployment)
	if owner == nil || owner.UID != foo.UID || owner.Kind != "Foo" || owner.APIVersion != "samplecontroller.k8s.io/v1alpha1" {
		t.Errorf("owner reference %+v, want a complete one to Foo %s", owner, foo.UID)
	}
	if got := *deployment.Spec.Replicas; got != 3 {
		t.Errorf("replicas %d, want 3", got)
	}
	if selector, err := metav1.LabelSelectorAsSelector(deployment.Spec.Selector); err != nil || selector.String() != w.foo("foo").Status.Selector {
		t.Errorf("selector %v (%v), want the one in the Foo's status, %q", selector, err, w.foo("foo").Status.Selector)
	}

	w.sync()
	w.requeues(0)
	w.sent()
	w.told()
}

// What the Deployment reports becomes the Foo's status, once per change.
func TestStatusFollowsDeployment(t *testing.T) {
	w := converged(t, 2)
	notReady := w.foo("foo").Status.Conditions

	w.set(deploymentPath+"deployment", map[string]any{"replicas": int64(2), "availableReplicas": int64(1), "observedGeneration": int64(1)}, "status")
	w.syncAndReconcile()
	w.sent("PUT foos/foo/status")
	w.ready("foo", v1alpha1.ReasonWaitingForReplicas)
	if status := w.foo("foo").Status; status.Replicas != 2 || status.AvailableReplicas != 1 {
		t.Errorf("%d replicas, %d available, want 2 and 1", status.Replicas, status.AvailableReplicas)
	}
	if got, want := w.foo("foo").Status.Conditions[0].LastTransitionTime, notReady[0].LastTransitionTime; !got.Equal(&want) {
		t.Errorf("Ready stays False, yet its transition time went from %s to %s", want, got)
	}

	w.set(deploymentPath+"deployment", rolledOut(2), "status")
	w.syncAndReconcile()
	w.sent("PUT foos/foo/status")
	w.ready("foo", v1alpha1.ReasonAvailable)

	w.syncAndReconcile()
	w.sent()
}

// The fields that a Foo decides are put right with one write; all others are left
// to the programs that wrote them.
func TestDrift(t *testing.T) {
	path := deploymentPath + "deployment"
	sidecar := map[string]any{"name": "sidecar", "image": "sidecar:1"}
	for _, test := range []struct {
		reason string
		change func(w *world)
		want   []string
		events []string
	}{
		{"the Foo was scaled", func(w *world) { w.set(fooPath+"foo", int64(3), "spec", "replicas") },
			[]string{"GET foos/foo", "PUT deployments/deployment", "PUT foos/foo/status"}, []string{"Normal Updated Updated spec.replicas of Deployment deployment"}},
		{"a user scaled the Deployment", func(w *world) { w.set(path, int64(7), "spec", "replicas") },
			[]string{"GET foos/foo", "PUT deployments/deployment"}, []string{"Normal Updated Updated spec.replicas of Deployment deployment"}},
		{"a user changed our container's image", func(w *world) {
			w.set(path, []any{map[string]any{"name": "nginx", "image": "other"}, sidecar}, "spec", "template", "spec", "containers")
		}, []string{"PUT deployments/deployment"}, []string{"Normal Updated Updated spec.template.spec.containers of Deployment deployment"}},
		{"a user removed our label from the Pods", func(w *world) {
			w.set(path, map[string]any{"theirs": "kept"}, "spec", "template", "metadata", "labels")
		},
			[]string{"PUT deployments/deployment"}, []string{"Normal Updated Updated spec.template.metadata.labels of Deployment deployment"}},
		{"a user added a container, an annotation and a strategy", func(w *world) {
			w.set(path, []any{map[string]any{"name": "nginx", "image": "nginx:1.29"}, sidecar}, "spec", "template", "spec", "containers")
			w.set(path, map[string]any{"note": "kept"}, "metadata", "annotations")
			w.set(path, map[string]any{"type": "Recreate"}, "spec", "strategy")
		}, nil, nil},
		{"the Foo gave the number away", func(w *world) {
			w.set(fooPath+"foo", nil, "spec", "replicas")
			w.set(path, int64(7), "spec", "replicas")
		}, []string{"PUT foos/foo/status"}, nil},
	} {
		t.Run(test.reason, func(t *testing.T) {
			w := converged(t, 1)
			before := w.deployment("deployment")
			test.change(w)
			theirs := w.deployment("deployment")
			w.syncAndReconcile()
			w.sent(test.want...)
			w.told(test.events...)

			after := w.deployment("deployment")
			if before.UID != after.UID {
				t.Error("the Deployment was replaced, not updated")
			}
			if len(theirs.Spec.Template.Spec.Containers) > 1 && len(after.Spec.Template.Spec.Containers) != 2 {
				t.Error("the container that the user added is gone")
			}
			if theirs.Annotations["note"] != after.Annotations["note"] || theirs.Spec.Strategy.Type != after.Spec.Strategy.Type {
				t.Error("what the user set is gone")
			}
			if label := theirs.Spec.Template.Labels["theirs"]; label != after.Spec.Template.Labels["theirs"] {
				t.Error("the label that the user added is gone")
			}
			w.syncAndReconcile()
			w.sent()
		})
	}
}

// Foos for which there is nothing to do.
func TestNothingToDo(t *testing.T) {
	for _, test := range []struct {
		reason string
		change func(w *world)
	}{
		{"the Foo is gone: its Deployment follows by its owner reference", func(w *world) { w.api.Remove(fooPath + "foo") }},
		{"the Foo is being deleted: a new Deployment would fight the garbage collector", func(w *world) {
			w.api.Delete(fooPath+"foo", metav1.DeletePropagationForeground)
			w.api.Remove(deploymentPath + "deployment")
		}},
		{"an unrelated Deployment changed", func(w *world) { w.createDeployment("unrelated") }},
	} {
		t.Run(test.reason, func(t *testing.T) {
			w := converged(t, 1)
			test.change(w)
			w.sync()
			w.requeues(0)
			w.sent()
			w.told()
		})
	}
}

// A namespace that is being deleted refuses new objects, and may stay so for long. The status is
// true, and nothing else is sent.
func TestTerminatingNamespace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := converged(t, 1)
		w.rollOut("deployment", 1)
		w.ready("foo", v1alpha1.ReasonAvailable)
		w.api.Delete("/api/v1/namespaces/default", "")
		w.api.Remove(deploymentPath + "deployment")
		for _, want := range [][]string{{"GET foos/foo", "POST deployments", "PUT foos/foo/status"}, nil} {
			w.sync()
			if again, _ := w.tryReconcile(fooKey); again < 29*time.Second {
				t.Errorf("look again after %s, want a minute, or what is left of it", again)
			}
			w.sent(want...)
			w.told()
			time.Sleep(30 * time.Second)
		}
		w.ready("foo", v1alpha1.ReasonNamespaceTerminating)
		w.available(0)
	})
}

// A Deployment of the wanted name that is on its way out is waited for.
func TestLeavingDeployment(t *testing.T) {
	for _, test := range []struct {
		reason string
		setUp  func(w *world)
	}{
		{"ours, and terminating", func(w *world) {
			w.createDeployment("deployment", controllerRef("samplecontroller.k8s.io/v1alpha1", "Foo", "foo", w.foo("foo").UID))
			w.api.Delete(deploymentPath+"deployment", metav1.DeletePropagationForeground)
		}},
		{"of another Foo that is gone", func(w *world) {
			w.createDeployment("deployment", controllerRef("samplecontroller.k8s.io/v1alpha1", "Foo", "other", "gone"))
		}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			w := newWorld(t)
			w.createFoo("foo", spec("deployment", 1))
			test.setUp(w)
			w.syncAndReconcile()
			w.sent("PUT foos/foo/status")
			w.ready("foo", v1alpha1.ReasonWaitingForDeletion)
			w.told() // no warning: no user has to do anything

			w.api.Remove(deploymentPath + "deployment")
			w.syncAndReconcile()
			w.sent("GET foos/foo", "POST deployments", "PUT foos/foo/status")
		})
	}
}

// A Deployment that this Foo's UID does not control is never written, and the
// Foo says why it waits: once.
func TestForeignDeployment(t *testing.T) {
	w := newWorld(t)
	w.createFoo("foo", spec("deployment", 1))
	w.createFoo("other", spec("elsewhere", 1))
	w.createDeployment("deployment", controllerRef("samplecontroller.k8s.io/v1alpha1", "Foo", "other", w.foo("other").UID))
	w.syncAndReconcile()
	w.sent("PUT foos/foo/status")
	w.told(`Warning NameTaken Deployment "deployment" exists and is controlled by Foo "other": delete it or change spec.deploymentName`)
	w.ready("foo", v1alpha1.ReasonNameTaken)

	// The same state again is no news: neither when the other one changes, nor
	// when the Foo changes and only the generation that was seen is written.
	w.set(deploymentPath+"deployment", int64(5), "spec", "replicas")
	w.syncAndReconcile()
	w.sent()
	w.set(fooPath+"foo", int64(2), "spec", "replicas")
	w.syncAndReconcile()
	w.sent("PUT foos/foo/status")
	w.told()

	// When the name is free, the Foo takes it.
	w.api.Remove(deploymentPath + "deployment")
	w.syncAndReconcile()
	w.sent("GET foos/foo", "POST deployments", "PUT foos/foo/status")
}

// A new deploymentName: after a look at the live Foo the new Deployment, after another look the
// old one goes, that very object.
func TestRename(t *testing.T) {
	w := converged(t, 1)
	w.set(fooPath+"foo", "renamed", "spec", "deploymentName")
	w.sync()
	// Also if no event follows: the answer to the DELETE may have been wrong.
	w.requeues(time.Second)
	w.sent("GET foos/foo", "POST deployments", "GET foos/foo", "GET deployments/renamed", "DELETE deployments/deployment", "PUT foos/foo/status")
	w.told("Normal Created Created Deployment renamed", "Normal Deleted Deleted Deployment deployment, the Foo names renamed")

	// A store that shows the new one and still the old one leads to no second DELETE.
	w.syncFoos()
	if err := w.deployments.Add(w.deployment("renamed")); err != nil {
		t.Fatal(err)
	}
	w.requeues(time.Second)
	w.sent()

	w.syncAndReconcile()
	w.sent()
}

// A DELETE has failed, and is not wanted any more: the Foo has its old name again. When it is wanted
// once more, one failure does not make it one that lasts.
func TestRenameBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := converged(t, 1)
		for _, name := range []string{"renamed", "deployment", "renamed"} {
			w.set(fooPath+"foo", name, "spec", "deploymentName")
			w.refuse(http.MethodDelete, deploymentPath+"deployment", apierrors.NewInternalError(errors.New("down")))
			w.again(1)
		}
		w.ready("foo", v1alpha1.ReasonWaitingForReplicas)
	})
}

// A Foo is renamed, and then back, while the watch of Deployments shows the new one and, still, the
// old one: nothing is deleted, for only the new one is there.
func TestRenameToAndFro(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := converged(t, 1)
		stale := w.deployment("deployment")
		w.set(fooPath+"foo", "b", "spec", "deploymentName")
		w.syncFoos()
		w.reconcile()
		if err := w.deployments.Replace([]any{stale, w.deployment("b")}, w.deployment("b").ResourceVersion); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		w.set(fooPath+"foo", "deployment", "spec", "deploymentName")
		w.syncFoos()
		w.sent("GET foos/foo", "POST deployments", "GET foos/foo", "GET deployments/b", "DELETE deployments/deployment", "PUT foos/foo/status")
		w.reconcile()
		w.sent("GET foos/foo", "GET deployments/deployment")
		time.Sleep(time.Second)
		w.syncAndReconcile()
		w.syncAndReconcile()
		w.sent("GET foos/foo", "POST deployments", "GET foos/foo", "GET deployments/deployment", "DELETE deployments/b", "PUT foos/foo/status")
	})
}

// A user takes the old Deployment from the Foo before it is deleted: it stays.
func TestRenameOfReleasedDeployment(t *testing.T) {
	w := converged(t, 1)
	w.set(fooPath+"foo", "renamed", "spec", "deploymentName")
	w.sync()
	w.set(deploymentPath+"deployment", []any{}, "metadata", "ownerReferences")
	w.fails(apierrors.IsConflict)
	w.sent("GET foos/foo", "POST deployments", "GET foos/foo", "GET deployments/renamed", "DELETE deployments/deployment", "PUT foos/foo/status")
	w.syncAndReconcile()
	w.deployment("deployment")
}

// A deleted Deployment that finalizers hold back is no reason to wait, nor to delete it
// again: that it is being deleted has been seen.
func TestRenameWithFinalizers(t *testing.T) {
	w := converged(t, 1)
	old := w.deployment("deployment")
	w.set(fooPath+"foo", "renamed", "spec", "deploymentName")
	w.syncAndReconcile()
	w.sync()
	w.api.Requests()
	old.DeletionTimestamp, old.ResourceVersion = &metav1.Time{Time: time.Now()}, w.api.Latest()
	if err := w.deployments.Add(old); err != nil {
		t.Fatal(err)
	}
	w.requeues(0)
	w.sent()
}

// The old Deployment is replaced by another of its name just before it is deleted: that one
// stays.
func TestRenameKeepsWhatIsNew(t *testing.T) {
	w := converged(t, 1)
	w.set(fooPath+"foo", "renamed", "spec", "deploymentName")
	w.sync()
	w.api.Intercept(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodDelete {
			w.api.Remove(deploymentPath + "deployment")
			w.api.Add(deploymentPath+"deployment", &unstructured.Unstructured{Object: map[string]any{}})
		}
		return false
	})
	w.fails(apierrors.IsConflict)
	w.deployment("deployment")
}

// A Foo is deleted, and the cache does not show it. It gets no second Deployment, which
// the garbage collector would have to delete again.
func TestGoneUnseen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.createFoo("foo", spec("deployment", 1))
		w.sync()
		w.api.Remove(fooPath + "foo")
		w.fails(apierrors.IsNotFound)
		w.sent("POST deployments", "PUT foos/foo/status")
		w.api.Remove(deploymentPath + "deployment")
		w.syncDeployments()
		for _, want := range [][]string{{"GET foos/foo"}, nil} {
			w.requeues(time.Second)
			w.sent(want...)
		}
	})
}

// The same, after its status was seen: the garbage collector deletes the Deployment, and
// the watch of Deployments is the faster one.
func TestGoneLater(t *testing.T) {
	w := converged(t, 1)
	w.api.Remove(fooPath + "foo")
	w.api.Remove(deploymentPath + "deployment")
	w.syncDeployments()
	for _, want := range [][]string{{"GET foos/foo"}, nil} {
		w.requeues(time.Second)
		w.sent(want...)
	}
	w.syncFoos()
	w.reconcile()
	w.sent()
}

// A watch is open and silent: a write that it does not show is an error after a minute.
func TestSilentWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := converged(t, 1)
		w.set(fooPath+"foo", int64(2), "spec", "replicas")
		w.syncFoos()
		w.reconcile()
		time.Sleep(time.Minute)
		w.reconcile()
		time.Sleep(time.Second)
		w.fails(says("for a minute no watch has shown"))
	})
}

// The Foo in the cache was replaced by another one of its name and generation: what the old one
// would get is not created.
func TestReplacedFoo(t *testing.T) {
	w := converged(t, 1)
	w.api.Remove(fooPath + "foo")
	w.api.Remove(deploymentPath + "deployment")
	w.createFoo("foo", spec("deployment", 1))
	w.syncDeployments()
	w.reconcile()
	w.sent("GET foos/foo")
}

// A Foo is deleted whose trace is only an old Deployment that a finalizer holds, or what this
// process has sent: the watch of Foos is dead, and it gets no new Deployment each time.
func TestGoneWithLittleTrace(t *testing.T) {
	for _, test := range []struct {
		reason string
		setUp  func(w *world)
	}{
		{"an old Deployment is held by a finalizer", func(w *world) {
			w.set(deploymentPath+"deployment", []any{"example.com/hold"}, "metadata", "finalizers")
			w.set(fooPath+"foo", "renamed", "spec", "deploymentName")
			w.again(2)
			w.api.Remove(deploymentPath + "renamed")
		}},
		{"its status was never written", func(w *world) {
			w.refuse(http.MethodPut, fooPath, apierrors.NewForbidden(v1alpha1.Resource("foos"), "foo", errors.New("no right")))
			w.set(fooPath+"foo", nil, "status")
			w.again(1)
			w.api.Remove(deploymentPath + "deployment")
			w.again(1)
			w.api.Remove(deploymentPath + "deployment")
		}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := converged(t, 1)
				test.setUp(w)
				w.api.Remove(fooPath + "foo")
				w.syncDeployments()
				w.api.Requests()
				for range 6 {
					time.Sleep(30 * time.Second)
					_, _ = w.tryReconcile(fooKey)
				}
				if sent := w.api.Requests(); strings.Contains(fmt.Sprint(sent), " deployments") {
					t.Errorf("sent %v for a Foo that is gone", sent)
				}
			})
		})
	}
}

// A process that takes over with an old store must not delete the Deployment that
// the Foo names now.
func TestStaleStoreDeletesNothing(t *testing.T) {
	w := converged(t, 1)
	w.set(fooPath+"foo", "renamed", "spec", "deploymentName")
	for _, name := range []string{"copy", "renamed"} {
		w.createDeployment(name, controllerRef("samplecontroller.k8s.io/v1alpha1", "Foo", "foo", w.foo("foo").UID))
	}
	// The Deployments are known, the Foo still has its old name in the store.
	w.syncDeployments()
	w.requeues(time.Second)
	w.sent("GET foos/foo")

	// It does not ask again until the store has what the server said.
	w.reconcile()
	w.sent()
	w.syncAndReconcile()
	w.sent("PUT deployments/renamed", "GET foos/foo", "GET deployments/renamed", "DELETE deployments/deployment",
		"GET foos/foo", "GET deployments/renamed", "DELETE deployments/copy", "PUT foos/foo/status")
}

// The Foo has given its number away and a person has scaled the Deployment: an old store must not
// write the old number over theirs, which stands nowhere else.
func TestStaleStoreSetsNoNumber(t *testing.T) {
	w := converged(t, 1)
	w.set(fooPath+"foo", nil, "spec", "replicas")
	w.set(deploymentPath+"deployment", int64(7), "spec", "replicas")
	w.syncDeployments()
	w.requeues(time.Second)
	w.sent("GET foos/foo")
}

// While a store does not show what was written, nothing is written again.
func TestOwnWritesAreAwaited(t *testing.T) {
	for _, test := range []struct {
		reason      string
		first, then func(w *world)
	}{
		{"the status comes first", (*world).syncFoos, (*world).syncDeployments},
		{"the Deployment comes first", (*world).syncDeployments, (*world).syncFoos},
	} {
		t.Run(test.reason, func(t *testing.T) {
			w := newWorld(t)
			w.createFoo("foo", spec("deployment", 1))
			w.syncAndReconcile()
			w.sent("POST deployments", "PUT foos/foo/status")
			for _, step := range []struct {
				shows string
				sync  func(w *world)
				want  time.Duration
			}{
				{"neither write", func(*world) {}, time.Second},
				{"one of them", test.first, time.Second},
				{"both", test.then, 0},
			} {
				step.sync(w)
				w.requeues(step.want)
				w.sent()
			}
		})
	}
}

// racing is a store that catches up in the very moment in which it is asked how
// far it is.
type racing struct {
	cache.Indexer
	catchUp func() // or nil
}

func (r *racing) LastStoreSyncResourceVersion() string {
	if r.catchUp != nil {
		r.catchUp()
	}
	return r.Indexer.LastStoreSyncResourceVersion()
}

// A store that catches up while a reconcile runs: the object that was read before is still
// known to be stale.
func TestStoreCatchesUpMeanwhile(t *testing.T) {
	w := newWorld(t)
	store := &racing{Indexer: w.foos}
	w.reconciler.FooStore = store
	w.createFoo("foo", spec("deployment", 1))
	w.syncAndReconcile()
	w.api.Requests()
	w.syncDeployments()
	store.catchUp = w.syncFoos
	if again, err := w.reconciler.Reconcile(t.Context(), fooKey); again != 0 || err != nil {
		t.Errorf("look again after %s, error %v, want neither", again, err)
	}
	w.sent()
}

// The same for a change of the Deployment.
func TestOwnUpdateIsAwaited(t *testing.T) {
	w := converged(t, 1)
	w.set(fooPath+"foo", int64(3), "spec", "replicas")
	w.syncAndReconcile()
	w.sent("GET foos/foo", "PUT deployments/deployment", "PUT foos/foo/status")
	w.syncFoos()
	w.requeues(time.Second)
	w.sent()
}

// The Foo's Deployment exists but is not in the cache yet: AlreadyExists. What to do is decided once
// the cache has it.
func TestCreateFindsDeployment(t *testing.T) {
	w := newWorld(t)
	foo := w.createFoo("foo", spec("deployment", 1))
	w.sync()
	w.createDeployment("deployment", controllerRef("samplecontroller.k8s.io/v1alpha1", "Foo", "foo", foo.UID))
	w.fails(apierrors.IsAlreadyExists)
	w.sent("POST deployments", "PUT foos/foo/status")
	w.syncAndReconcile()
	w.sent("PUT deployments/deployment", "PUT foos/foo/status")
	w.told("Normal Updated Updated metadata.ownerReferences of Deployment deployment")
}

// After a Conflict the refused version is not sent again: the newer one is on its
// way to the store.
func TestConflict(t *testing.T) {
	for _, test := range []struct {
		reason, refused string
		other           func(w *world) // syncs the other store
		change          func(w *world)
	}{
		{"of the Deployment", "PUT deployments/deployment", (*world).syncFoos, func(w *world) {
			w.set(fooPath+"foo", int64(2), "spec", "replicas")
			w.syncFoos()
			w.set(deploymentPath+"deployment", "theirs", "metadata", "labels", "theirs")
		}},
		{"of the status", "PUT foos/foo/status", (*world).syncDeployments, func(w *world) {
			w.set(deploymentPath+"deployment", rolledOut(1), "status")
			w.syncDeployments()
			w.set(fooPath+"foo", "theirs", "metadata", "labels", "theirs")
		}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			w := converged(t, 1)
			test.change(w)
			w.fails(apierrors.IsConflict)
			if sent := w.api.Requests(); !slices.Contains(sent, test.refused) {
				t.Errorf("sent %v, want %s", sent, test.refused)
			}
			test.other(w)
			w.requeues(time.Second)
			w.sent()

			w.syncAndReconcile()
			if sent := w.api.Requests(); !slices.Contains(sent, test.refused) {
				t.Errorf("with the newer version in the store, sent %v, want %s", sent, test.refused)
			}
		})
	}
}

// A webhook invents Conflicts: the same version is sent again after 20 s, and the status does not
// wait for it.
func TestInventedConflict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := converged(t, 1)
		w.set(fooPath+"foo", int64(2), "spec", "replicas")
		w.refuse(http.MethodPut, deploymentPath, apierrors.NewConflict(schema.GroupResource{Group: "apps", Resource: "deployments"}, "deployment", errors.New("says a webhook")))
		w.sync()
		w.fails(apierrors.IsConflict)
		w.sent("GET foos/foo", "PUT deployments/deployment", "PUT foos/foo/status")
		w.sync()
		w.requeues(time.Second)
		time.Sleep(19 * time.Second)
		w.reconcile()
		w.sent()
		time.Sleep(time.Second)
		_, _ = w.tryReconcile(fooKey)
		w.sent("GET foos/foo", "PUT deployments/deployment", "PUT foos/foo/status")
		w.ready("foo", v1alpha1.ReasonRequestFailed)
		w.api.Refuse(nil)
		w.sync()
		time.Sleep(30 * time.Second)
		w.reconcile()
		w.sent("GET foos/foo", "PUT deployments/deployment", "PUT foos/foo/status")
	})
}

// An invalid spec becomes a condition and is not retried.
func TestInvalid(t *testing.T) {
	w := newWorld(t)
	w.createFoo("foo", spec("../x", 1))
	w.syncAndReconcile()
	w.sent("PUT foos/foo/status")
	w.told(`Warning InvalidSpec spec.deploymentName: "../x" is not a name that a Deployment can have`)
	w.ready("foo", v1alpha1.ReasonInvalidSpec)
	w.syncAndReconcile()
	w.sent()
}

// A Foo without a number, whose Deployment an autoscaler has scaled, is renamed: the new one has
// as many replicas. Again, after it was scaled: an older one, which a finalizer holds, says nothing.
func TestRenameKeepsNumber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.createFoo("foo", v1alpha1.FooSpec{DeploymentName: "deployment"})
		w.again(1)
		w.set(deploymentPath+"deployment", []any{"example.com/hold"}, "metadata", "finalizers")
		for _, step := range []struct {
			scaled string
			to     int64
			name   string
		}{{"deployment", 50, "renamed"}, {"renamed", 0, "again"}} {
			w.set(deploymentPath+step.scaled, step.to, "spec", "replicas")
			w.set(fooPath+"foo", step.name, "spec", "deploymentName")
			w.again(1)
			if got := *w.deployment(step.name).Spec.Replicas; int64(got) != step.to {
				t.Errorf("%s has %d replicas, want those of %s, %d", step.name, got, step.scaled, step.to)
			}
		}
	})
}

// As before, and the cache does not show yet that the old one was scaled down.
func TestRenameKeepsNewestNumber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.createFoo("foo", v1alpha1.FooSpec{DeploymentName: "deployment"})
		w.again(1)
		w.set(deploymentPath+"deployment", int64(50), "spec", "replicas")
		w.syncDeployments()
		w.set(deploymentPath+"deployment", int64(10), "spec", "replicas")
		w.set(fooPath+"foo", "renamed", "spec", "deploymentName")
		w.syncFoos()
		_, _ = w.tryReconcile(fooKey)
		w.again(1)
		if got := *w.deployment("renamed").Spec.Replicas; got != 10 || w.api.Get(deploymentPath+"deployment") != nil {
			t.Errorf("renamed has %d replicas, want the 10 of the one before, which is gone; sent: %v", got, w.api.Requests())
		}
	})
}

// An old Deployment may be scaled as long as it is there. It is deleted when the new one has its number, which
// nothing else has.
func TestOldNumberIsTakenOver(t *testing.T) {
	for reason, scale := range map[string]func(w *world){
		"while its deletion is refused": func(w *world) {
			w.refuse(http.MethodDelete, deploymentPath, policy("ValidatingAdmissionPolicy 'keep' denied request: it stays"))
			w.again(2)
			for n := range int64(10) {
				w.set(deploymentPath+"deployment", 41+n, "spec", "replicas")
				w.again(1)
			}
			w.ready("foo", v1alpha1.ReasonForbidden) // That the new one follows is nobody's work.
			w.api.Refuse(nil)
		},
		"just before its deletion": func(w *world) {
			w.api.Intercept(func(_ http.ResponseWriter, r *http.Request) bool {
				if r.Method == http.MethodDelete {
					w.api.Intercept(nil)
					w.set(deploymentPath+"deployment", int64(50), "spec", "replicas")
				}
				return false
			})
		},
	} {
		t.Run(reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.createFoo("foo", v1alpha1.FooSpec{DeploymentName: "deployment"})
				w.again(1)
				w.set(fooPath+"foo", "renamed", "spec", "deploymentName")
				scale(w)
				w.again(3)
				if got := *w.deployment("renamed").Spec.Replicas; got != 50 || len(w.api.List("deployments")) != 1 {
					t.Errorf("renamed has %d replicas, want 50, and no other Deployment: %d are there", got, len(w.api.List("deployments")))
				}
			})
		})
	}
}

// A copy of the Deployment, with its owner reference, is deleted. It is no old one: the number that others have
// set stays.
func TestCopyHasNoNumber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.createFoo("foo", v1alpha1.FooSpec{DeploymentName: "deployment"})
		w.again(1)
		w.set(deploymentPath+"deployment", int64(0), "spec", "replicas")
		time.Sleep(time.Second)
		w.createDeployment("copy", w.deployment("deployment").OwnerReferences...)
		if sent := w.again(2); slices.Contains(sent, "PUT deployments/deployment") || w.api.Get(deploymentPath+"copy") != nil {
			t.Errorf("sent %v, want the DELETE of the copy alone", sent)
		}
	})
}

// A webhook lets the deletions of ten old Deployments hang: the eleventh is deleted meanwhile.
func TestHangingDeletionHoldsUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := converged(t, 1)
		for i := range 10 {
			w.createDeployment(fmt.Sprint("old", i), w.deployment("deployment").OwnerReferences...)
		}
		w.createDeployment("z", w.deployment("deployment").OwnerReferences...)
		w.api.Refuse(func(r *http.Request) *apierrors.StatusError {
			if r.Method == http.MethodDelete && strings.HasPrefix(r.URL.Path, deploymentPath+"old") {
				select {
				case <-time.After(10 * time.Second):
				case <-r.Context().Done():
				}
				return apierrors.NewInternalError(errors.New("hangs"))
			}
			return nil
		})
		for range 10 {
			w.sync()
			again, _ := w.tryReconcile(fooKey)
			time.Sleep(again)
		}
		if w.api.Get(deploymentPath+"z") != nil {
			t.Errorf("z is still there; sent: %v", w.api.Requests())
		}
	})
}

// A deletion that was not wanted for a while has not failed for as long: one Conflict more says nothing.
func TestDeletionNotWantedMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := converged(t, 1)
		w.createDeployment("old", w.deployment("deployment").OwnerReferences...)
		conflict := apierrors.NewConflict(schema.GroupResource{Group: "apps", Resource: "deployments"}, "old", errors.New("its status has changed"))
		w.refuse(http.MethodDelete, deploymentPath, conflict)
		w.again(1)
		w.refuse(http.MethodPut, deploymentPath, policy("ValidatingAdmissionPolicy 'keep' denied request: it stays"))
		w.set(deploymentPath+"deployment", int64(7), "spec", "replicas")
		w.again(2)
		w.ready("foo", v1alpha1.ReasonForbidden)
		w.refuse(http.MethodDelete, deploymentPath, conflict)
		if sent := w.again(1); !slices.Contains(sent, "DELETE deployments/old") {
			t.Fatalf("sent %v, want the DELETE again", sent)
		}
		w.ready("foo", v1alpha1.ReasonWaitingForReplicas)
	})
}

// One GET is answered by another cluster: it is not waited for.
func TestAnswerOfAnotherCluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := converged(t, 1)
		w.set(fooPath+"foo", "renamed", "spec", "deploymentName")
		w.api.Intercept(func(answer http.ResponseWriter, r *http.Request) bool {
			w.api.Intercept(nil)
			other := w.foo("foo")
			other.UID, other.ResourceVersion = "other", "900000000"
			answer.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(answer).Encode(other)
			return true
		})
		if sent := w.again(2); !slices.Contains(sent, "POST deployments") {
			t.Errorf("sent %v", sent)
		}
	})
}

var _ controller.Reconcile = (&foo.Reconciler{}).Reconcile
