package main

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// TestWholeLife is everything that is sent for one At.
func TestWholeLife(t *testing.T) {
	w := newWorld(t)
	at := w.create("2026-01-02T12:30:00Z")
	if again := w.reconcile("PUT ats/example/status"); again != 30*time.Minute {
		t.Errorf("look again after %s, want 30m", again)
	}
	w.is(PhasePending, "")
	w.reconcile()

	w.now = noon.Add(30 * time.Minute)
	w.reconcile("PUT ats/example/status")
	w.is(PhaseRunning, "")
	if status := w.at().Status; status.PodName != podName(at) || !status.StartTime.Equal(&metav1.Time{Time: w.now}) {
		t.Errorf("claimed with %+v", status)
	}
	w.reconcile("GET ats/example", "POST pods", "PUT ats/example/status")
	if pod := w.pod(); w.at().Status.PodUID != pod.UID || !metav1.IsControlledBy(pod, at) {
		t.Errorf("podUID %s, Pod %+v", w.at().Status.PodUID, pod.ObjectMeta)
	}
	w.set(w.podPath(), "Running", "status", "phase")
	w.reconcile()

	w.now = w.now.Add(time.Minute)
	w.set(w.podPath(), "Succeeded", "status", "phase")
	w.reconcile("PUT ats/example/status")
	w.is(PhaseDone, "")
	if status := w.at().Status; !status.CompletionTime.Equal(&metav1.Time{Time: w.now}) {
		t.Errorf("ended with %+v", status)
	}
	w.reconcile("PATCH " + w.podPath())
	if finalizers := w.pod().Finalizers; len(finalizers) != 0 {
		t.Errorf("finalizers %q", finalizers)
	}
	w.reconcile()

	// The Pod may go now, and nothing happens.
	w.delete(w.podPath())
	w.reconcile()
	w.is(PhaseDone, "")
}

// TestWait: it looks at the clock at least once an hour, however far the schedule is.
func TestWait(t *testing.T) {
	for schedule, want := range map[string]time.Duration{
		"2026-01-02T12:00:00.5Z":    500 * time.Millisecond,
		"2026-01-02T12:00:01Z":      time.Second,
		"2026-01-02T13:30:00+01:00": 30 * time.Minute,
		"2026-01-02T13:00:01Z":      time.Hour,
		"9999-12-31T23:59:59Z":      time.Hour, // more than a time.Duration holds
	} {
		t.Run(schedule, func(t *testing.T) {
			w := newWorld(t)
			w.create(schedule)
			if again := w.reconcile("PUT ats/example/status"); again != want {
				t.Errorf("look again after %s, want %s", again, want)
			}
			w.is(PhasePending, "")
		})
	}
}

// TestClockSteps: a person sets the clock while the timer runs. What counts is the clock.
func TestClockSteps(t *testing.T) {
	w := newWorld(t)
	w.create("2026-01-02T12:30:00Z")
	w.reconcile("PUT ats/example/status")
	w.now = noon.Add(-time.Hour) // back
	if again := w.reconcile(); again != time.Hour {
		t.Errorf("look again after %s, want 1h", again)
	}
	w.now = noon.AddDate(1, 0, 0) // forward
	w.reconcile("PUT ats/example/status")
	w.is(PhaseRunning, "")
}

// TestEdit: until it runs the schedule may be moved, in either direction.
func TestEdit(t *testing.T) {
	w := newWorld(t)
	w.create("2026-01-02T12:30:00Z")
	w.reconcile("PUT ats/example/status")
	w.set("ats/example", "2026-01-02T12:45:00Z", "spec", "schedule")
	w.now = noon.Add(30 * time.Minute) // the first timer is not stopped
	if again := w.reconcile(); again != 15*time.Minute {
		t.Errorf("look again after %s, want 15m", again)
	}
	w.set("ats/example", "2026-01-02T12:10:00Z", "spec", "schedule")
	w.reconcile("PUT ats/example/status")
	w.is(PhaseRunning, "")

	// It is moved while the cache still shows the old time: the claim is refused.
	w = newWorld(t)
	w.create("2026-01-02T12:00:00Z")
	w.set("ats/example", "2026-01-03T12:00:00Z", "spec", "schedule")
	if _, err := w.tryReconcile("PUT ats/example/status"); !apierrors.IsConflict(err) {
		t.Errorf("error %v, want a Conflict", err)
	}
	w.reconcile("PUT ats/example/status")
	w.is(PhasePending, "")
}

// TestInvalidSchedule: a retry cannot mend it.
func TestInvalidSchedule(t *testing.T) {
	w := newWorld(t)
	w.create("2026-02-30T12:00:00Z")
	if again := w.reconcile("PUT ats/example/status"); again != 0 {
		t.Errorf("look again after %s, want 0", again)
	}
	w.is(PhaseFailed, ReasonInvalidSchedule)
	if message := w.at().Status.Message; message != `parsing time "2026-02-30T12:00:00Z": day out of range` {
		t.Errorf("message %q", message)
	}
	w.reconcile()
}

// TestLate: it runs late, unless it has a deadline and that is over.
func TestLate(t *testing.T) {
	for _, schedule := range []string{"2025-01-01T00:00:00Z", "0000-01-01T00:00:00Z"} {
		w := newWorld(t)
		w.create(schedule)
		w.reconcile("PUT ats/example/status")
		w.is(PhaseRunning, "")
	}

	w := newWorld(t)
	w.create("2026-01-02T11:59:00Z", deadline(60))
	w.reconcile("PUT ats/example/status")
	w.is(PhaseRunning, "")

	w = newWorld(t)
	w.create("2026-01-02T11:58:59Z", deadline(60))
	w.reconcile("PUT ats/example/status")
	w.is(PhaseFailed, ReasonMissed)
	w.reconcile()
}

// TestLateAfterClaim: the deadline is over between the claim and the Pod.
func TestLateAfterClaim(t *testing.T) {
	w := newWorld(t)
	w.create("2026-01-02T12:00:00Z", deadline(60))
	w.reconcile("PUT ats/example/status")
	path := "pods/" + w.at().Status.PodName
	w.now = noon.Add(2 * time.Minute)
	w.reconcile("GET ats/example", "GET "+path, "PUT ats/example/status")
	w.is(PhaseFailed, ReasonMissed)

	// The Pod was created in time, and only its answer was lost.
	w = newWorld(t)
	w.create("2026-01-02T12:00:00Z", deadline(60))
	w.reconcile("PUT ats/example/status")
	w.sync()
	w.add(path, newPod(w.at()))
	w.now = noon.Add(2 * time.Minute)
	w.syncAts()
	w.reconcileStale("GET ats/example", "GET "+path, "PUT ats/example/status")
	w.is(PhaseRunning, "")
}

// TestPodFailed: a failed Pod is a failed At, and is not run again.
func TestPodFailed(t *testing.T) {
	w := running(t)
	w.set(w.podPath(), "Failed", "status", "phase")
	w.set(w.podPath(), "Evicted", "status", "reason")
	w.reconcile("PUT ats/example/status")
	w.is(PhaseFailed, ReasonPodFailed)
	if message := w.at().Status.Message; message != "Evicted" {
		t.Errorf("message %q", message)
	}
	w.reconcile("PATCH " + w.podPath())
	w.reconcile()
}

// TestNameTaken: the Pod of another owner, or of none, is never taken for ours, and never touched.
func TestNameTaken(t *testing.T) {
	for reason, change := range map[string]func(*corev1.Pod){
		"of no owner": func(pod *corev1.Pod) { pod.OwnerReferences = nil },
		"of an At of this name": func(pod *corev1.Pod) {
			pod.OwnerReferences[0].UID, pod.Labels[uidLabel], pod.Finalizers = "another", "another", nil
		},
		"owned and not controlled": func(pod *corev1.Pod) { pod.OwnerReferences[0].Controller = nil },
	} {
		t.Run(reason, func(t *testing.T) {
			w := newWorld(t)
			w.create("2026-01-02T12:00:00Z")
			w.reconcile("PUT ats/example/status")
			pod := newPod(w.at())
			pod.Finalizers = nil
			change(pod)
			w.add(w.podPath(), pod)
			version := w.pod().ResourceVersion
			w.reconcile("GET ats/example", "POST pods", "GET "+w.podPath(), "PUT ats/example/status")
			w.is(PhaseFailed, ReasonNameTaken)
			w.reconcile()
			if w.pod().ResourceVersion != version {
				t.Error("the Pod was changed")
			}
		})
	}
}

// TestInvalidPod: the spec cannot be changed any more, so a retry cannot help.
func TestInvalidPod(t *testing.T) {
	w := newWorld(t)
	w.create("2026-01-02T12:00:00Z")
	w.reconcile("PUT ats/example/status")
	w.refusePods(apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "example",
		field.ErrorList{field.Required(field.NewPath("spec"), "")}))
	w.reconcile("GET ats/example", "POST pods", "PUT ats/example/status")
	w.is(PhaseFailed, ReasonInvalidPod)
	w.reconcile()
}

// TestPolicyWithoutReason: a ValidatingAdmissionPolicy that gives no reason answers 422, as
// for an invalid Pod, but names no field. It may be lifted.
func TestPolicyWithoutReason(t *testing.T) {
	w := newWorld(t)
	w.create("2026-01-02T12:00:00Z")
	w.reconcile("PUT ats/example/status")
	denied := apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "example", nil)
	denied.ErrStatus.Details.Causes = []metav1.StatusCause{{Message: "no Pods on Sundays"}}
	w.refusePods(denied)
	w.sync()
	if _, err := w.tryReconcile("GET ats/example", "POST pods", "PUT ats/example/status"); !apierrors.IsInvalid(err) {
		t.Errorf("error %v, want the policy's, so that the worker retries", err)
	}
	w.is(PhaseRunning, ReasonForbidden)
	w.api.Refuse(nil)
	w.reconcile("GET ats/example", "POST pods", "PUT ats/example/status")
	w.is(PhaseRunning, "")
}

// TestQuota: a refusal is told once and retried, until the quota allows the Pod.
func TestQuota(t *testing.T) {
	w := newWorld(t)
	w.create("2026-01-02T12:00:00Z")
	w.reconcile("PUT ats/example/status")
	exceeded := func(used int) *apierrors.StatusError {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "example", fmt.Errorf("exceeded quota, used %d", used))
	}
	w.refusePods(exceeded(2))
	w.sync()
	if _, err := w.tryReconcile("GET ats/example", "POST pods", "PUT ats/example/status"); !apierrors.IsForbidden(err) {
		t.Errorf("error %v, want Forbidden, so that the worker retries", err)
	}
	w.is(PhaseRunning, ReasonForbidden)
	first := w.at().Status.Message
	w.refusePods(exceeded(3))
	w.sync()
	if _, err := w.tryReconcile("GET ats/example", "POST pods"); !apierrors.IsForbidden(err) {
		t.Errorf("error %v, want Forbidden", err)
	}
	if message := w.at().Status.Message; message != first {
		t.Errorf("message %q, want the first one, %q", message, first)
	}
	w.api.Refuse(nil)
	w.reconcile("GET ats/example", "POST pods", "PUT ats/example/status")
	w.is(PhaseRunning, "")
}

// TestTerminatingNamespace: nothing can be created, and the At is about to go.
func TestTerminatingNamespace(t *testing.T) {
	w := newWorld(t)
	w.create("2026-01-02T12:00:00Z")
	w.reconcile("PUT ats/example/status")
	w.api.Delete("/api/v1/namespaces/default", "")
	if again := w.reconcile("GET ats/example", "POST pods"); again != 0 {
		t.Errorf("look again after %s, want 0", again)
	}
}

// refusePods answers each POST with an error.
func (w *world) refusePods(err *apierrors.StatusError) {
	w.api.Refuse(func(r *http.Request) *apierrors.StatusError {
		if r.Method == http.MethodPost {
			return err
		}
		return nil
	})
}
