package main

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/byhand/controller"
	"example.com/byhand/kit/testkit"
)

// These tests are about "at most once": each has a situation that could lead to a second Pod.

// TestPodEnds: a failed Pod means a failed At. A Pod that ended or was deleted does not run again.
func TestPodEnds(t *testing.T) {
	const deleted = "the Pod was deleted before it ended"
	for _, test := range []struct {
		reason string
		world  func(*testing.T, ...int64) *world
		change func(w *world, pod string)
		asks   bool // reads the live Pod, because the cache lacks it
		phase  Phase
		why    Reason
		says   string
	}{
		{"it has failed", running, func(w *world, pod string) {
			w.set(pod, "Failed", "status", "phase")
			w.set(pod, "Evicted", "status", "reason")
		}, false, PhaseFailed, ReasonPodFailed, "the Pod has failed Evicted"},
		{"it is deleted", running, (*world).delete, false, PhaseFailed, ReasonPodDeleted, deleted},
		{"it has succeeded and is deleted", running, func(w *world, pod string) {
			w.set(pod, "Succeeded", "status", "phase")
			w.delete(pod)
		}, false, PhaseDone, "", ""},
		// The finalizer keeps the Pod.
		{"it is deleted before it is recorded", claimed, func(w *world, pod string) {
			w.add(pod, newPod(w.at()))
			w.delete(pod)
		}, false, PhaseFailed, ReasonPodDeleted, deleted},
		{"it is deleted, and its finalizer was removed by force", running, func(w *world, pod string) {
			w.api.Remove(url(pod))
		}, true, PhaseFailed, ReasonPodDeleted, "the Pod is gone"},
		{"it is gone, and a new one has its name", running, func(w *world, pod string) {
			another := stored[corev1.Pod](w, pod)
			w.api.Remove(url(pod))
			w.add(pod, another)
		}, true, PhaseFailed, ReasonPodDeleted, "the Pod is gone"},
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
			if w.api.Get(url(pod)) != nil {
				w.reconcile("PATCH " + pod)
			}
			w.reconcile()
		})
	}
}

// TestStaleCache: another process has recorded a Pod, which has ended and is gone, and the cache
// shows none of these changes.
func TestStaleCache(t *testing.T) {
	w := claimed(t)
	w.sync()
	w.set("ats/example", "DONE", "status", "phase")
	w.set("ats/example", "an-uid", "status", "podUID")
	if again := w.reconcileStale("GET ats/example"); again != controller.CacheRetry {
		t.Errorf("requeue after %s, want %s", again, controller.CacheRetry)
	}
	// Until the cache catches up, nothing is sent.
	w.reconcileStale()
	w.becomes(PhaseDone, "")
}

// TestTwoControllers takes every step twice, the second time with a controller whose cache shows
// none of the first one's writes.
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
	// Both see the claim, but not the Pod.
	w.sync()
	other.sync()
	w.api.OnWrite(func(n int, _ *http.Request) testkit.Fault {
		if n == 1 { // During the POST, the other controller is faster.
			if err := theirs(); err != nil {
				t.Errorf("the other controller: %v", err)
			}
		}
		return testkit.Pass
	})
	_, err := w.tryReconcile("GET ats/example", "POST pods",
		"GET ats/example", "POST pods", putStatus, // the other controller's
		"GET "+w.podPath(), putStatus)
	if !apierrors.IsConflict(err) {
		t.Errorf("error %v, want a Conflict", err)
	}
	if n := len(w.api.List("pods")); n != 1 {
		t.Errorf("%d Pods, want 1", n)
	}
}

// TestEachRequestFails kills the program at each of its five writes for an At, or returns an object of
// another kind to a request. The next process creates no second Pod.
func TestEachRequestFails(t *testing.T) {
	for n := 1; n <= 8; n++ {
		t.Run(fmt.Sprint("another kind at request ", n), func(t *testing.T) {
			livesWith(t, func(w *world) {
				requests := 0
				w.api.Intercept(func(answer http.ResponseWriter, _ *http.Request) bool {
					if requests++; requests != n {
						return false
					}
					answer.Header().Set("Content-Type", "application/json")
					fmt.Fprint(answer, `{"kind":"Status","apiVersion":"v1","status":"Success"}`)
					return true
				})
			})
		})
	}
	for write := 1; write <= 5; write++ {
		for _, fault := range []testkit.Fault{testkit.KillBefore, testkit.KillAfter} {
			t.Run(fmt.Sprintf("fault %d at write %d", fault, write), func(t *testing.T) {
				livesWith(t, func(w *world) {
					w.api.Kill = w.restart
					w.api.OnWrite(func(n int, _ *http.Request) testkit.Fault {
						return map[int]testkit.Fault{write: fault}[n]
					})
				})
			})
		}
	}
}

// livesWith runs an At to its end, with disturbances. Before each step the cache of Ats lags behind
// the cache of Pods.
func livesWith(t *testing.T, disturb func(w *world)) {
	t.Helper()
	w := newWorld(t)
	w.create("2026-01-02T12:00:00Z")
	disturb(w)
	reconcile := func() { _, _ = w.Reconcile(t.Context(), exampleKey) }
	for range 10 {
		w.syncPods()
		reconcile()
		w.syncAts()
		reconcile()
		if len(w.api.List("pods")) == 0 {
			continue
		}
		// A user removes the label for a moment, so the cache lacks the Pod.
		w.set(w.podPath(), map[string]any{}, "metadata", "labels")
		w.sync()
		reconcile()
		w.set(w.podPath(), map[string]any{uidLabel: string(w.at().UID)}, "metadata", "labels")
		if w.at().Status.PodUID != "" {
			w.set(w.podPath(), "Succeeded", "status", "phase")
		}
	}
	w.is(PhaseDone, "")
	if pods, finalizers := len(w.api.List("pods")), stored[corev1.Pod](w, w.podPath()).Finalizers; pods != 1 || len(finalizers) != 0 {
		t.Errorf("%d Pods, finalizers %q; want 1 and none", pods, finalizers)
	}
}

// TestRelease: only this program's finalizer is removed, once no status needs the Pod.
func TestRelease(t *testing.T) {
	ask := []string{"GET ats/example"}
	for _, test := range []struct {
		reason string
		change func(w *world, pod string)
		asks   []string
	}{
		{"the At is done", func(w *world, _ string) { w.end() }, nil},
		{"it is deleted in the foreground", func(w *world, _ string) {
			w.api.Delete(url("ats/example"), metav1.DeletePropagationForeground)
		}, nil},
		{"it is gone", func(w *world, pod string) {
			w.api.Remove(url("ats/example"))
			w.delete(pod)
		}, ask},
		{"it is gone, and a new At has its name", func(w *world, _ string) {
			w.api.Remove(url("ats/example"))
			w.create("9999-12-31T23:59:59Z")
			w.set("ats/example", "PENDING", "status", "phase")
		}, ask},
		{"it is gone, and the Pod is an orphan", func(w *world, pod string) {
			w.api.Remove(url("ats/example"))
			w.set(pod, []any{}, "metadata", "ownerReferences")
		}, ask},
	} {
		t.Run(test.reason, func(t *testing.T) {
			w := running(t)
			pod := w.podPath()
			w.set(pod, []any{"example.com/theirs", podFinalizer}, "metadata", "finalizers")
			test.change(w, pod)
			w.reconcile(append(test.asks, "PATCH "+pod)...)
			if left := stored[corev1.Pod](w, pod).Finalizers; len(left) != 1 || left[0] != "example.com/theirs" {
				t.Errorf("finalizers %q, want the other client's", left)
			}
			w.reconcile()
		})
	}
}

func TestReleaseOfGonePod(t *testing.T) {
	w := running(t)
	w.end()
	w.api.Remove(url(w.podPath()))
	w.reconcileStale("PATCH " + w.podPath())
}

// TestReleaseOfForgedPod: an annotation that is not a valid name appears in no request, key or log.
func TestReleaseOfForgedPod(t *testing.T) {
	forged := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "forged", Finalizers: []string{podFinalizer},
		Labels: map[string]string{uidLabel: "uid"}, Annotations: map[string]string{nameAnnotation: "../../x"}}}
	w := newWorld(t)
	w.add("pods/forged", forged)
	w.sync()
	key := atOf(forged)
	if _, err := w.Reconcile(t.Context(), key); err != nil || key.Name != "" {
		t.Errorf("key %q, error %v, want no name", key, err)
	}
	if diff := cmp.Diff([]string{"PATCH pods/forged"}, w.api.Requests()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
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
}
