package foo_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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

// The Foo's status follows the Deployment's, with one write per change.
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

// One write corrects the fields that a Foo determines. All other fields keep their values.
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
			[]string{"PUT deployments/deployment", "PUT foos/foo/status"}, []string{"Normal Updated Updated Deployment deployment: spec.replicas"}},
		{"a user scaled the Deployment", func(w *world) { w.set(path, int64(7), "spec", "replicas") },
			[]string{"PUT deployments/deployment"}, []string{"Normal Updated Updated Deployment deployment: spec.replicas"}},
		{"a user changed our container's image", func(w *world) {
			w.set(path, []any{map[string]any{"name": "nginx", "image": "other"}, sidecar}, "spec", "template", "spec", "containers")
		}, []string{"PUT deployments/deployment"}, []string{"Normal Updated Updated Deployment deployment: spec.template.spec.containers"}},
		{"a user added a container, an annotation and a strategy", func(w *world) {
			w.set(path, []any{map[string]any{"name": "nginx", "image": "nginx:1.29"}, sidecar}, "spec", "template", "spec", "containers")
			w.set(path, map[string]any{"note": "kept"}, "metadata", "annotations")
			w.set(path, map[string]any{"type": "Recreate"}, "spec", "strategy")
		}, nil, nil},
		{"the Foo no longer sets replicas", func(w *world) {
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
				t.Error("the user's annotation or strategy is gone")
			}
			if label := theirs.Spec.Template.Labels["theirs"]; label != after.Spec.Template.Labels["theirs"] {
				t.Error("the label that the user added is gone")
			}
			w.syncAndReconcile()
			w.sent()
		})
	}
}

func TestNothingToDo(t *testing.T) {
	for _, test := range []struct {
		reason string
		change func(w *world)
	}{
		{"the Foo is gone: the garbage collector deletes its Deployment", func(w *world) { w.api.Remove(fooPath + "foo") }},
		{"the Foo is being deleted: the garbage collector would delete a new Deployment", func(w *world) {
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

// If the Deployment with the wanted name is being deleted, the Foo waits.
func TestLeavingDeployment(t *testing.T) {
	for _, test := range []struct {
		reason string
		setUp  func(w *world)
	}{
		{"ours, and terminating", func(w *world) {
			w.createDeployment("deployment", controllerRef("samplecontroller.k8s.io/v1alpha1", "Foo", "foo", w.foo("foo").UID))
			w.api.Delete(deploymentPath+"deployment", metav1.DeletePropagationForeground)
		}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			w := newWorld(t)
			w.createFoo("foo", spec("deployment", 1))
			test.setUp(w)
			w.syncAndReconcile()
			w.sent("PUT foos/foo/status")
			w.ready("foo", v1alpha1.ReasonWaitingForDeletion)
			w.told() // No user needs to act.

			w.api.Remove(deploymentPath + "deployment")
			w.syncAndReconcile()
			w.sent("GET foos/foo", "POST deployments", "PUT foos/foo/status")
		})
	}
}

// A Deployment that this Foo's UID does not control is never written. The Foo's status has the reason, and
// one Event reports it.
func TestForeignDeployment(t *testing.T) {
	w := newWorld(t)
	w.createFoo("foo", spec("deployment", 1))
	w.createFoo("other", spec("elsewhere", 1))
	w.createDeployment("deployment", controllerRef("samplecontroller.k8s.io/v1alpha1", "Foo", "other", w.foo("other").UID))
	w.syncAndReconcile()
	w.sent("PUT foos/foo/status")
	w.told(`Warning NameTaken Deployment "deployment" exists and is controlled by Foo "other": delete it or change spec.deploymentName`)
	w.ready("foo", v1alpha1.ReasonNameTaken)

	// The same reason records no second Event, even after a change of the Deployment or the Foo.
	w.set(deploymentPath+"deployment", int64(5), "spec", "replicas")
	w.syncAndReconcile()
	w.sent()
	w.set(fooPath+"foo", int64(2), "spec", "replicas")
	w.syncAndReconcile()
	w.sent("PUT foos/foo/status")
	w.told()

	w.api.Remove(deploymentPath + "deployment")
	w.syncAndReconcile()
	w.sent("GET foos/foo", "POST deployments", "PUT foos/foo/status")
}

// After a rename, the new Deployment is created, then the old one is deleted. A GET of the Foo comes before
// each of these writes.
func TestRename(t *testing.T) {
	w := converged(t, 1)
	w.set(fooPath+"foo", "renamed", "spec", "deploymentName")
	w.sync()
	w.requeues(0)
	w.sent("GET foos/foo", "POST deployments", "GET foos/foo", "GET deployments/renamed", "DELETE deployments/deployment", "PUT foos/foo/status")
	w.told("Normal Created Created Deployment renamed", "Normal Deleted Deleted Deployment deployment because spec.deploymentName is now renamed")

	// While the store shows both Deployments, no second DELETE is sent.
	w.syncFoos()
	if err := w.deployments.Add(w.deployment("renamed")); err != nil {
		t.Fatal(err)
	}
	w.requeues(time.Second)
	w.sent()

	w.syncAndReconcile()
	w.sent()
}

// A user removes the owner reference of the old Deployment before the controller deletes it: it stays.
func TestRenameOfReleasedDeployment(t *testing.T) {
	w := converged(t, 1)
	w.set(fooPath+"foo", "renamed", "spec", "deploymentName")
	w.sync()
	w.set(deploymentPath+"deployment", []any{}, "metadata", "ownerReferences")
	w.fails(apierrors.IsConflict)
	w.sent("GET foos/foo", "POST deployments", "GET foos/foo", "GET deployments/renamed", "DELETE deployments/deployment")
	w.syncAndReconcile()
	w.deployment("deployment")
}

// An old Deployment with a deletionTimestamp and finalizers is not deleted again, and the key does not wait
// for it.
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

// Just before the controller deletes the old Deployment, a user recreates it. The recreated
// Deployment stays.
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

// A Foo is deleted, and the cache does not show that. The Foo gets no second Deployment.
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
		w.requeues(controller.CacheRetry)
		w.sent()
	})
}

// A Foo with a status and its Deployment are deleted, and the cache shows only the Deployment's deletion.
// The Foo gets no second Deployment.
func TestGoneLater(t *testing.T) {
	w := converged(t, 1)
	w.api.Remove(fooPath + "foo")
	w.api.Remove(deploymentPath + "deployment")
	w.syncDeployments()
	w.fails(apierrors.IsNotFound)
	w.sent("GET foos/foo")
	w.syncFoos()
	w.reconcile()
	w.sent()
}

// The Foo in the cache was replaced by one with the same name and generation: the old Foo's
// Deployment is not created.
func TestReplacedFoo(t *testing.T) {
	w := converged(t, 1)
	w.api.Remove(fooPath + "foo")
	w.api.Remove(deploymentPath + "deployment")
	w.createFoo("foo", spec("deployment", 1))
	w.syncDeployments()
	w.fails(controller.IsRace)
	w.sent("GET foos/foo")
}

// A process that takes over with a stale store must not delete the Deployment that the Foo
// names now.
func TestStaleStoreDeletesNothing(t *testing.T) {
	w := converged(t, 1)
	w.set(fooPath+"foo", "renamed", "spec", "deploymentName")
	for _, name := range []string{"copy", "renamed"} {
		w.createDeployment(name, controllerRef("samplecontroller.k8s.io/v1alpha1", "Foo", "foo", w.foo("foo").UID))
	}
	// The store of Foos still has the old name.
	w.syncDeployments()
	w.fails(controller.IsRace)
	w.sent("GET foos/foo", "GET foos/foo")
	w.syncAndReconcile()
	w.sent("PUT deployments/renamed", "GET foos/foo", "GET deployments/renamed", "DELETE deployments/copy",
		"GET foos/foo", "GET deployments/renamed", "DELETE deployments/deployment", "PUT foos/foo/status")
}

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

// racing is a store that catches up during a call to LastStoreSyncResourceVersion.
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

// The store catches up during a reconcile that has already read the old object.
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
		t.Errorf("requeue after %s, error %v, want 0s and nil", again, err)
	}
	w.sent()
}

func TestOwnUpdateIsAwaited(t *testing.T) {
	w := converged(t, 1)
	w.set(fooPath+"foo", int64(3), "spec", "replicas")
	w.syncAndReconcile()
	w.sent("PUT deployments/deployment", "PUT foos/foo/status")
	w.syncFoos()
	w.requeues(time.Second)
	w.sent()
}

// The Foo's Deployment exists, but is not in the cache yet: AlreadyExists.
func TestCreateFindsDeployment(t *testing.T) {
	w := newWorld(t)
	foo := w.createFoo("foo", spec("deployment", 1))
	w.sync()
	w.createDeployment("deployment", controllerRef("samplecontroller.k8s.io/v1alpha1", "Foo", "foo", foo.UID))
	w.fails(apierrors.IsAlreadyExists)
	w.sent("POST deployments")
	w.syncAndReconcile()
	w.sent("PUT deployments/deployment", "PUT foos/foo/status")
	w.told("Normal Updated Updated Deployment deployment: spec.template.spec.containers")
}

// After a Conflict the stale version is not sent again. The key waits until the store has a newer one.
func TestConflict(t *testing.T) {
	for _, test := range []struct {
		reason, refused string
		change          func(w *world)
	}{
		{"of the Deployment", "PUT deployments/deployment", func(w *world) {
			w.set(fooPath+"foo", int64(2), "spec", "replicas")
			w.syncFoos()
			w.set(deploymentPath+"deployment", "theirs", "metadata", "labels", "theirs")
		}},
		{"of the status", "PUT foos/foo/status", func(w *world) {
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
			w.requeues(controller.CacheRetry)
			w.sent()
			w.syncAndReconcile()
			if sent := w.api.Requests(); !slices.Contains(sent, test.refused) {
				t.Errorf("with the newer version in the store, sent %v, want %s", sent, test.refused)
			}
		})
	}
}

// An invalid spec becomes a condition and is not retried.
func TestInvalid(t *testing.T) {
	w := newWorld(t)
	w.createFoo("foo", spec("../x", 1))
	w.syncAndReconcile()
	w.sent("PUT foos/foo/status")
	w.told(`Warning InvalidSpec spec.deploymentName: "../x" is not a valid name for a Deployment`)
	w.ready("foo", v1alpha1.ReasonInvalidSpec)
	w.syncAndReconcile()
	w.sent()
}

// A Foo without replicas is renamed twice, each time after an autoscaler has scaled its Deployment. The new
// Deployment gets the previous one's replicas, not the replicas of an older one with a finalizer.
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
				t.Errorf("%s has %d replicas, want %s's, %d", step.name, got, step.scaled, step.to)
			}
		}
	})
}

// One GET returns an object of another cluster. Its resourceVersion does not block the key.
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

// A user scales the Foo, deletes its Deployment, then scales the Deployment. No write counts as reverted.
func TestUserIsNoFight(t *testing.T) {
	w := converged(t, 1)
	w.set(fooPath+"foo", int64(3), "spec", "replicas")
	w.syncAndReconcile()
	w.api.Remove(deploymentPath + "deployment")
	w.syncAndReconcile()
	w.sync()
	w.set(deploymentPath+"deployment", int64(7), "spec", "replicas")
	w.syncAndReconcile()
	w.ready("foo", v1alpha1.ReasonWaitingForReplicas)
}
