package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// TestWait verifies that an At checks the clock at least once an hour, runs late unless its deadline
// has passed, and fails if the schedule is invalid. TestRun changes a schedule.
func TestWait(t *testing.T) {
	for _, test := range []struct {
		schedule string
		deadline []int64
		again    time.Duration
		phase    Phase
		reason   Reason
		message  string
	}{
		{"2026-01-02T12:00:00.5Z", nil, 500 * time.Millisecond, PhasePending, "", ""},
		{"2026-01-02T13:30:00+01:00", nil, 30 * time.Minute, PhasePending, "", ""},
		{"2026-01-02T13:00:01Z", nil, time.Hour, PhasePending, "", ""},
		{"9999-12-31T23:59:59Z", nil, time.Hour, PhasePending, "", ""}, // more than a time.Duration holds
		{"2025-01-01T00:00:00Z", nil, 0, PhaseRunning, "", ""},
		{"2026-01-02T11:59:00Z", []int64{60}, 0, PhaseRunning, "", ""},
		{"2026-01-02T11:58:59Z", []int64{60}, 0, PhaseFailed, ReasonMissed, missedMessage},
		{"2026-02-30T12:00:00Z", nil, 0, PhaseFailed, ReasonInvalidSchedule, `parsing time "2026-02-30T12:00:00Z": day out of range`},
	} {
		t.Run(test.schedule, func(t *testing.T) {
			w := newWorld(t)
			w.create(test.schedule, test.deadline...)
			if again := w.becomes(test.phase, test.reason, putStatus); again != test.again {
				t.Errorf("requeue after %s, want %s", again, test.again)
			}
			if message := w.at().Status.Message; message != test.message {
				t.Errorf("message %q, want %q", message, test.message)
			}
			if test.phase != PhaseRunning {
				w.reconcile()
			}
		})
	}
}

// TestLateAfterClaim: the deadline passes between the claim and the creation of the Pod.
func TestLateAfterClaim(t *testing.T) {
	w := claimed(t, 60)
	w.now = noon.Add(2 * time.Minute)
	w.becomes(PhaseFailed, ReasonMissed, "GET ats/example", "GET "+w.podPath(), putStatus)

	// The Pod was created in time, and only the response was lost.
	w = claimed(t, 60)
	w.sync()
	w.add(w.podPath(), newPod(w.at()))
	w.now = noon.Add(2 * time.Minute)
	w.reconcileStale("GET ats/example", "GET "+w.podPath(), putStatus)
	w.is(PhaseRunning, "")
}

// TestNameTaken: a Pod with another owner, or without one, is never adopted or changed.
func TestNameTaken(t *testing.T) {
	for reason, change := range map[string]func(*corev1.Pod){
		"without an owner": func(pod *corev1.Pod) { pod.OwnerReferences = nil },
		"of another At with this name": func(pod *corev1.Pod) {
			pod.OwnerReferences[0].UID, pod.Labels[uidLabel] = "another", "another"
		},
		"owned and not controlled": func(pod *corev1.Pod) { pod.OwnerReferences[0].Controller = nil },
	} {
		t.Run(reason, func(t *testing.T) {
			w := claimed(t)
			pod := newPod(w.at())
			pod.Finalizers = nil
			change(pod)
			w.add(w.podPath(), pod)
			w.becomes(PhaseFailed, ReasonNameTaken, "GET ats/example", "POST pods", "GET "+w.podPath(), putStatus)
			w.reconcile()
		})
	}
}

// TestInvalidPod: the spec is immutable by now, so a retry cannot help.
func TestInvalidPod(t *testing.T) {
	w := claimed(t)
	w.refusePods(apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "example",
		field.ErrorList{field.Required(field.NewPath("spec"), "")}))
	w.becomes(PhaseFailed, ReasonInvalidPod, "GET ats/example", "POST pods", putStatus)
	w.reconcile()
}

// TestNewPod: a Pod runs once, without a token, and no shell splits its command.
func TestNewPod(t *testing.T) {
	containers := []AtContainer{{Name: "one", Image: "image", Command: []string{"echo", "two  spaces"}, Args: []string{""}}, {Name: "two", Image: "other"}}
	want := corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, AutomountServiceAccountToken: new(false), Containers: []corev1.Container{
		{Name: "one", Image: "image", Command: []string{"echo", "two  spaces"}, Args: []string{""}}, {Name: "two", Image: "other"}}}
	if diff := cmp.Diff(want, newPod(&At{Spec: AtSpec{Containers: containers}}).Spec); diff != "" {
		t.Errorf("Pod (-want +got):\n%s", diff)
	}
	// Its name is a valid host name, even for the longest At.
	long := &At{ObjectMeta: metav1.ObjectMeta{Name: strings.Repeat("a.", 126) + "a", UID: "uid"}}
	if problems := validation.IsDNS1123Label(podName(long)); len(problems) > 0 {
		t.Errorf("%s: %q", podName(long), problems)
	}
}

// TestRefused: a rejection is reported once and retried until the Pod is accepted.
func TestRefused(t *testing.T) {
	// A ValidatingAdmissionPolicy without a reason returns 422, as for an invalid Pod, but names
	// no field.
	denied := apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "example", nil)
	denied.ErrStatus.Details.Causes = []metav1.StatusCause{{Message: "no Pods on Sundays"}}
	exceeded := func(used int) *apierrors.StatusError {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "example", fmt.Errorf("exceeded quota, used %d", used))
	}
	for reason, refusals := range map[string][]*apierrors.StatusError{
		"by a policy without reason": {denied, denied},
		"by a quota":                 {exceeded(2), exceeded(3)},
	} {
		t.Run(reason, func(t *testing.T) {
			w := claimed(t)
			requests := []string{"GET ats/example", "POST pods", putStatus}
			for _, by := range refusals {
				w.refusePods(by)
				w.sync()
				if _, err := w.tryReconcile(requests...); apierrors.ReasonForError(err) != by.ErrStatus.Reason {
					t.Errorf("error %v, want %v, so that the worker retries", err, by)
				}
				w.is(PhaseRunning, ReasonForbidden)
				if message := w.at().Status.Message; message != refusals[0].Error() {
					t.Errorf("message %q, want the first one, %q", message, refusals[0])
				}
				requests = requests[:2]
			}
			w.api.Refuse(nil)
			w.becomes(PhaseRunning, "", "GET ats/example", "POST pods", putStatus)
		})
	}
}

func (w *world) refusePods(err *apierrors.StatusError) {
	w.api.Refuse(func(r *http.Request) *apierrors.StatusError {
		if r.Method == http.MethodPost {
			return err
		}
		return nil
	})
}

// TestGoingAway: no Pod is created in a terminating namespace, or for a deleted At.
func TestGoingAway(t *testing.T) {
	w := claimed(t)
	w.api.Delete("/api/v1/namespaces/default", "")
	if again := w.reconcile("GET ats/example", "POST pods"); again != 0 {
		t.Errorf("requeue after %s, want 0", again)
	}
	w.api.Delete(url("ats/example"), metav1.DeletePropagationForeground)
	w.reconcile()
}
