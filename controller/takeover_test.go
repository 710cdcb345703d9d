package controller_test

import (
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/controller"
)

// takeOver replaces the process: the stores are what the new one has in memory,
// and it knows nothing of what the old one wrote.
func (w *world) takeOver() {
	w.reconciler = &controller.FooReconciler{
		Foos:            w.reconciler.Foos,
		Deployments:     w.reconciler.Deployments,
		FooStore:        w.foos,
		DeploymentStore: w.deployments,
		Events:          w.events,
	}
}

// A process that takes over may see one of two objects as it was before the old
// process acted on it. It asks once, waits, and undoes nothing.
func TestTakeOverWithStaleCache(t *testing.T) {
	for _, test := range []struct {
		reason string
		// before changes what is stored, then the old process acts; the new one sees the
		// outcome in one store only.
		before    func(w *world)
		shows     func(w *world)
		asks      string
		catchesUp func(w *world)
	}{
		{"the Foo was scaled, and its Deployment is seen first",
			func(w *world) { w.set(fooPath+"foo", int64(3), "spec", "replicas") },
			(*world).syncDeployments, "GET foos/foo", (*world).syncFoos},
		{"the Foo was renamed, and the new Deployment is seen first",
			func(w *world) { w.set(fooPath+"foo", "renamed", "spec", "deploymentName") },
			(*world).syncDeployments, "GET foos/foo", (*world).syncFoos},
		{"the Deployment has progressed, and the Foo's status is seen first",
			func(w *world) {
				w.set(deploymentPath+"deployment", map[string]any{"availableReplicas": int64(1), "observedGeneration": int64(1)}, "status")
			},
			(*world).syncFoos, "GET deployments/deployment", (*world).syncDeployments},
	} {
		t.Run(test.reason, func(t *testing.T) {
			w := converged(t, 1)
			test.before(w)
			foos, deployments := w.foos.List(), w.deployments.List()
			w.sync()
			w.reconcile()
			w.api.Requests()

			// The new process: as the stores were before, then one of them goes ahead.
			w.takeOver()
			if err := w.foos.Replace(foos, "1"); err != nil {
				t.Fatal(err)
			}
			if err := w.deployments.Replace(deployments, "1"); err != nil {
				t.Fatal(err)
			}
			test.shows(w)
			for _, want := range [][]string{{test.asks}, nil} {
				if again := w.reconcile(); again != time.Second {
					t.Errorf("look again after %s, want 1s", again)
				}
				w.sent(want...)
			}
			test.catchesUp(w)
			if again := w.reconcile(); again != 0 {
				t.Errorf("look again after %s, want 0", again)
			}
			w.sent()
		})
	}
}

// between is a store that catches up between two reads.
type between struct {
	cache.Indexer
	catchUp func()
}

func (b *between) ByIndex(name, value string) ([]any, error) {
	objects, err := b.Indexer.ByIndex(name, value)
	b.catchUp()
	return objects, err
}

func (b *between) GetByKey(key string) (any, bool, error) {
	object, found, err := b.Indexer.GetByKey(key)
	b.catchUp()
	return object, found, err
}

// A new leader whose cache of Deployments catches up while it reads it, and whose Foo is
// an old one, does not undo the old leader's update.
func TestTakeOverBetweenTwoReads(t *testing.T) {
	w := converged(t, 1)
	foos, deployments := w.foos.List(), w.deployments.List()
	w.set(fooPath+"foo", int64(3), "spec", "replicas")
	w.sync()
	w.reconcile()
	w.takeOver()
	for store, objects := range map[cache.Indexer][]any{w.foos: foos, w.deployments: deployments} {
		if err := store.Replace(objects, "1"); err != nil {
			t.Fatal(err)
		}
	}
	w.reconciler.DeploymentStore = &between{w.deployments, w.syncDeployments}
	if _, err := w.reconciler.Reconcile(t.Context(), fooKey); err != nil && !apierrors.IsConflict(err) {
		t.Error(err)
	}
	if got := *w.deployment("deployment").Spec.Replicas; got != 3 {
		t.Errorf("the Deployment has %d replicas, want the 3 of the old leader", got)
	}
}

// Labels of a Foo that change faster than the cache follows do not keep its old
// Deployment: only the spec counts.
func TestRenameOfBusyFoo(t *testing.T) {
	w := converged(t, 1)
	w.set(fooPath+"foo", "renamed", "spec", "deploymentName")
	w.sync()
	w.set(fooPath+"foo", "busy", "metadata", "labels", "note")
	_, err := w.tryReconcile(fooKey)
	if !apierrors.IsConflict(err) {
		t.Errorf("error %v, want a Conflict of the status", err)
	}
	w.sent("POST deployments", "GET foos/foo", "DELETE deployments/deployment", "PUT foos/foo/status")
}

// Marks that say more than is true cost one question, and are put right.
func TestForgedMarks(t *testing.T) {
	for _, test := range []struct {
		reason string
		forge  func(w *world)
		want   []string
	}{
		{"a generation that the Foo never had",
			func(w *world) {
				w.set(deploymentPath+"deployment", "99", "metadata", "annotations", "samplecontroller.k8s.io/foo-generation")
			},
			[]string{"GET foos/foo", "PUT deployments/deployment"}},
		{"a version that the Deployment never had, as after a move to another cluster",
			func(w *world) { w.set(fooPath+"foo", "999999", "status", "observedDeploymentVersion") },
			[]string{"GET deployments/deployment", "PUT foos/foo/status"}},
		{"no number",
			func(w *world) {
				w.set(deploymentPath+"deployment", "../x", "metadata", "annotations", "samplecontroller.k8s.io/foo-generation")
				w.set(fooPath+"foo", "../x", "status", "observedDeploymentVersion")
			}, nil},
	} {
		t.Run(test.reason, func(t *testing.T) {
			w := converged(t, 1)
			test.forge(w)
			w.sync()
			w.reconcile()
			w.sent(test.want...)
			w.sync()
			w.reconcile()
			w.sent()
		})
	}
}
