package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/controller"
	"example.com/byhand/kit/testkit"
)

// These tests are about "at most once": each is a way to a second Pod, which is closed.

// TestPodEnds: a failed Pod is a failed At. A Pod that has ended or was deleted is not run again.
func TestPodEnds(t *testing.T) {
	const deleted = "the Pod was deleted before it had ended"
	for _, test := range []struct {
		reason string
		world  func(*testing.T, ...func(*At)) *world
		change func(w *world, pod string)
		asks   bool // because the cache does not have it
		phase  Phase
		why    Reason
		says   string
		left   bool // a Pod that is to be released
	}{
		{"it has failed", running, func(w *world, pod string) {
			w.set(pod, "Failed", "status", "phase")
			w.set(pod, "Evicted", "status", "reason")
		}, false, PhaseFailed, ReasonPodFailed, "Evicted", true},
		{"it is deleted", running, (*world).delete, false, PhaseFailed, ReasonPodDeleted, deleted, true},
		{"it has succeeded and is deleted", running, func(w *world, pod string) {
			w.set(pod, "Succeeded", "status", "phase")
			w.delete(pod)
		}, false, PhaseDone, "", "", true},
		// The finalizer keeps it.
		{"it is deleted before it is noted", claimed, func(w *world, pod string) {
			w.add(pod, newPod(w.at()))
			w.delete(pod)
		}, false, PhaseFailed, ReasonPodDeleted, deleted, true},
		{"it is deleted, and its finalizer was removed by force", running, func(w *world, pod string) {
			w.api.Remove(url(pod))
		}, true, PhaseFailed, ReasonPodDeleted, "the Pod is gone", false},
		{"it is gone, and another one has its name", running, func(w *world, pod string) {
			another := w.pod()
			w.api.Remove(url(pod))
			w.add(pod, another)
		}, true, PhaseFailed, ReasonPodDeleted, "the Pod is gone", true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			w := test.world(t)
			pod := w.podPath()
			test.change(w, pod)
			requests := []string{putStatus}
			if test.asks {
				requests = []string{"GET " + pod, putStatus}
			}
			w.becomes(test.phase, test.why, requests...)
			if message := w.at().Status.Message; message != test.says {
				t.Errorf("message %q, want %q", message, test.says)
			}
			if test.left {
				w.reconcile("PATCH " + pod)
			}
			w.reconcile()
		})
	}
}

// TestImpossiblePodName: another program has written a name into the status that no Pod can
// have. A request with it fails for ever.
func TestImpossiblePodName(t *testing.T) {
	for _, name := range []string{"../../x", "..", ""} {
		for _, uid := range []string{"", "an-uid"} {
			w := claimed(t)
			w.set("ats/example", name, "status", "podName")
			w.set("ats/example", uid, "status", "podUID")
			w.becomes(PhaseFailed, ReasonInvalidPod, putStatus)
			if left := w.at().Status.PodName; left != "" {
				t.Errorf("the status still has the name %q, which the CRD refuses", left)
			}
			w.reconcile()
		}
	}
}

// TestPodWithoutLabel: a person takes the label away, so the cache has no such Pod. It is
// still there.
func TestPodWithoutLabel(t *testing.T) {
	w := running(t)
	w.set(w.podPath(), map[string]any{}, "metadata", "labels")
	if again := w.reconcile("GET " + w.podPath()); again != controller.CacheRetry {
		t.Errorf("look again after %s, want %s", again, controller.CacheRetry)
	}
	w.set(w.podPath(), "Succeeded", "status", "phase")
	w.becomes(PhaseDone, "", "GET "+w.podPath(), putStatus)
}

// TestStaleCache: another process has noted a Pod, which has ended and is gone, and the cache
// shows nothing of it.
func TestStaleCache(t *testing.T) {
	w := claimed(t)
	w.sync()
	w.set("ats/example", "DONE", "status", "phase")
	w.set("ats/example", "an-uid", "status", "podUID")
	if again := w.reconcileStale("GET ats/example"); again != controller.CacheRetry {
		t.Errorf("look again after %s, want %s", again, controller.CacheRetry)
	}
	// Nor is anything sent before the cache shows it.
	w.reconcileStale()
	w.becomes(PhaseDone, "")
}

// TestOwnWrites: nothing is decided before the cache shows what was written.
func TestOwnWrites(t *testing.T) {
	w := newWorld(t)
	w.create("2026-01-02T12:00:00Z")
	w.reconcileStale(putStatus)
	if again := w.reconcileStale(); again != controller.CacheRetry {
		t.Errorf("look again after %s, want %s", again, controller.CacheRetry)
	}
	w.syncAts()
	w.reconcileStale("GET ats/example", "POST pods", putStatus)
	w.syncAts() // and not the Pods
	w.reconcileStale()
	w.syncPods()
	w.reconcileStale()
}

// TestTwoControllers takes every step twice, the second time by a controller that has seen
// nothing of the first one's.
func TestTwoControllers(t *testing.T) {
	w := newWorld(t)
	w.create("2026-01-02T12:00:00Z")
	other := &world{T: t, now: w.now, api: w.api}
	other.restart()
	other.sync()
	theirs := func() error {
		_, err := other.Reconcile(t.Context(), exampleKey)
		return err
	}

	w.reconcile(putStatus)
	if err := theirs(); !apierrors.IsConflict(err) {
		t.Errorf("the second claim: %v, want a Conflict", err)
	}
	// Both see the claim, and neither the Pod.
	w.sync()
	other.sync()
	w.api.OnWrite(func(n int, _ *http.Request) testkit.Fault {
		if n == 1 { // It is the POST. The other one is faster by a moment.
			if err := theirs(); err != nil {
				t.Errorf("the other one: %v", err)
			}
		}
		return testkit.Pass
	})
	_, err := w.tryReconcile("GET ats/example", "POST pods",
		"GET ats/example", "POST pods", putStatus, // the other one's
		"GET "+w.podPath(), putStatus)
	if !apierrors.IsConflict(err) {
		t.Errorf("error %v, want a Conflict", err)
	}
	if n := len(w.api.List("pods")); n != 1 {
		t.Errorf("%d Pods, want 1", n)
	}
}

// TestEachRequestFails: the program is killed before or after each of its five writes for an At (claim,
// create, note, done, release), and one request is answered with what is no Pod and no At. A client
// decodes each JSON without an error. Nothing is decided by such an answer, the next process knows
// what the API server has, and there is no second Pod.
func TestEachRequestFails(t *testing.T) {
	for killed := range 6 {
		for _, fault := range []testkit.Fault{testkit.KillBefore, testkit.KillAfter} {
			for lie, more := 0, true; more; lie++ {
				t.Run(fmt.Sprintf("kill at write %d, fault %d, lie at request %d", killed, fault, lie), func(t *testing.T) {
					w := newWorld(t)
					w.create("2026-01-02T12:00:00Z")
					kills, requests, failures := 0, 0, 0
					w.api.Kill = func() { kills++; failures++ }
					w.api.OnWrite(func(write int, _ *http.Request) testkit.Fault {
						if write == killed {
							return fault
						}
						return testkit.Pass
					})
					w.api.Intercept(func(answer http.ResponseWriter, _ *http.Request) bool {
						if requests++; requests != lie {
							return false
						}
						failures++
						answer.Header().Set("Content-Type", "application/json")
						fmt.Fprint(answer, `{"kind":"Status","apiVersion":"v1","status":"Success"}`)
						return true
					})
					reconcile := func() {
						before, killsBefore := failures, kills
						_, err := w.Reconcile(t.Context(), exampleKey)
						if failed := failures > before; failed != (err != nil) {
							t.Errorf("a request has failed: %t, error %v", failed, err)
						}
						if kills > killsBefore {
							w.restart()
						}
					}
					for range 10 {
						w.syncPods()
						reconcile() // The cache of Ats may be later.
						w.syncAts()
						reconcile()
						if w.api.Get(url(w.podPath())) == nil {
							continue
						}
						// A person takes the label away for a moment, and the cache has no such Pod.
						w.set(w.podPath(), map[string]any{}, "metadata", "labels")
						w.sync()
						reconcile()
						w.set(w.podPath(), map[string]any{uidLabel: string(w.at().UID)}, "metadata", "labels")
						if w.at().Status.PodUID != "" {
							w.set(w.podPath(), "Succeeded", "status", "phase")
						}
					}
					w.is(PhaseDone, "")
					pods := 0
					for _, change := range w.api.History() {
						if change.Before == nil && strings.HasPrefix(change.Path, url("pods/")) {
							pods++
						}
					}
					if finalizers := w.pod().Finalizers; pods != 1 || len(finalizers) != 0 {
						t.Errorf("%d Pods, finalizers %q; want 1 and none", pods, finalizers)
					}
					more = requests > lie
				})
			}
		}
	}
}

// TestRelease: the finalizer goes when no status waits for the Pod any more.
func TestRelease(t *testing.T) {
	for _, test := range []struct {
		reason string
		change func(w *world, pod string)
		asks   []string
	}{
		{"the At is gone", func(w *world, pod string) {
			w.api.Remove(url("ats/example"))
			w.delete(pod)
		}, []string{"GET ats/example"}},
		{"it is gone, and another one has its name", func(w *world, pod string) {
			w.api.Remove(url("ats/example"))
			w.create("9999-12-31T23:59:59Z")
			w.reconcile("GET ats/example", "PATCH "+pod, putStatus)
			w.set(pod, []any{podFinalizer}, "metadata", "finalizers")
		}, []string{"GET ats/example"}},
		{"it is gone, and the Pod is an orphan", func(w *world, pod string) {
			w.api.Remove(url("ats/example"))
			w.set(pod, []any{}, "metadata", "ownerReferences")
		}, []string{"GET ats/example"}},
		{"it is deleted in the foreground", func(w *world, pod string) {
			w.api.Delete(url("ats/example"), metav1.DeletePropagationForeground)
		}, nil},
	} {
		t.Run(test.reason, func(t *testing.T) {
			w := running(t)
			pod := w.podPath()
			test.change(w, pod)
			w.reconcile(append(test.asks, "PATCH "+pod)...)
			if object := w.api.Get(url(pod)); object != nil && len(object.GetFinalizers()) > 0 {
				t.Errorf("finalizers %q", object.GetFinalizers())
			}
			w.reconcile()
		})
	}
}

// TestReleaseKeepsOthers: other finalizers stay, and so does a new Pod of the same name. A Pod
// that went first is no error.
func TestReleaseKeepsOthers(t *testing.T) {
	w := running(t)
	w.set(w.podPath(), []any{"example.com/theirs", podFinalizer}, "metadata", "finalizers")
	w.end()
	w.reconcile("PATCH " + w.podPath())
	if finalizers := w.pod().Finalizers; len(finalizers) != 1 || finalizers[0] != "example.com/theirs" {
		t.Errorf("finalizers %q", finalizers)
	}

	w = running(t)
	w.end()
	w.set(w.podPath(), "another", "metadata", "uid")
	if _, err := w.tryReconcile("PATCH " + w.podPath()); !apierrors.IsConflict(err) {
		t.Errorf("error %v, want a Conflict", err)
	}

	w = running(t)
	w.end()
	w.api.Remove(url(w.podPath()))
	w.reconcileStale("PATCH " + w.podPath())
	w.reconcile()
}

// TestReleaseOfForgedPod: a Pod has our label and finalizer, and its annotation is no name
// that an At can have. It is released, and what the annotation says goes into no request, no
// key and no log.
func TestReleaseOfForgedPod(t *testing.T) {
	for _, name := range []string{"../../x", "\x1b[2J", ""} {
		w := newWorld(t)
		pod := "pods/forged"
		w.add(pod, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "forged", Finalizers: []string{podFinalizer},
			Labels: map[string]string{uidLabel: "uid"}, Annotations: map[string]string{nameAnnotation: name}}})
		w.sync()
		forged, _ := get[*corev1.Pod](w.PodStore, cache.NewObjectName("default", "forged"))
		if w.key = atOf(forged); w.key.Name != "" {
			t.Errorf("%q: key %q, want no name", name, w.key)
		}
		w.reconcileStale("PATCH " + pod)
	}
}

// TestReleaseAsksFirst: the cache does not have the At yet. Its Pod must keep the finalizer.
func TestReleaseAsksFirst(t *testing.T) {
	w := running(t)
	w.sync()
	if err := w.AtStore.Replace(nil, "100"); err != nil {
		t.Fatal(err)
	}
	w.reconcileStale("GET ats/example")

	// It has an earlier At of this name.
	earlier := w.at().DeepCopy()
	earlier.UID, earlier.Status = types.UID("earlier"), AtStatus{Phase: PhaseDone}
	if err := w.AtStore.Replace([]any{earlier}, "100"); err != nil {
		t.Fatal(err)
	}
	w.reconcileStale("GET ats/example")
}

// TestDeletedAt: nothing is created for an At that is being deleted.
func TestDeletedAt(t *testing.T) {
	w := claimed(t)
	w.api.Delete(url("ats/example"), metav1.DeletePropagationForeground)
	w.reconcile()

	// The cache does not show that it is.
	w = claimed(t)
	w.sync()
	w.api.Remove(url("ats/example"))
	if _, err := w.tryReconcile("GET ats/example"); !apierrors.IsNotFound(err) {
		t.Errorf("error %v, want NotFound", err)
	}
}
