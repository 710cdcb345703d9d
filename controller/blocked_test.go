package controller_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

// Foos that cannot have the Deployment that they ask for, and the API server's no.

// policy is the answer to a Deployment that a policy denies without a reason: its text
// stands in a cause that names no field.
func policy(text string) *apierrors.StatusError {
	err := apierrors.NewInvalid(schema.GroupKind{Group: "apps", Kind: "Deployment"}, "deployment", nil)
	err.ErrStatus.Message += ": " + text
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Message: text}}
	return err
}

// A policy's denial is told in the policy's words and tried again, and what runs
// meanwhile is still told.
func TestDeniedByPolicy(t *testing.T) {
	w := converged(t, 1)
	w.rollOut("deployment", 1)
	w.set(fooPath+"foo", int64(3), "spec", "replicas")
	w.sync()
	w.api.Refuse(func(r *http.Request) *apierrors.StatusError {
		if r.Method != http.MethodPut || !strings.HasPrefix(r.URL.Path, deploymentPath) {
			return nil
		}
		return policy("ValidatingAdmissionPolicy 'at-most-two' denied request: two are enough")
	})
	for _, want := range [][]string{{"PUT deployments/deployment", "PUT foos/foo/status"}, {"PUT deployments/deployment"}} {
		if _, err := w.tryReconcile(fooKey); !apierrors.IsInvalid(err) {
			t.Errorf("error %v, want the server's, to be retried", err)
		}
		w.sent(want...)
		w.sync()
	}
	w.ready("foo", metav1.ConditionFalse, metav1.ConditionFalse, v1alpha1.ReasonForbidden)
	status := w.foo("foo").Status
	if message := status.Conditions[0].Message; !strings.Contains(message, "'at-most-two' denied request: two are enough") {
		t.Errorf("message %q does not have the policy's words", message)
	}
	if status.AvailableReplicas != 1 {
		t.Errorf("%d available replicas, want the 1 that runs", status.AvailableReplicas)
	}

	// The policy is lifted. Nothing tells of it: the retry finds out.
	w.api.Refuse(nil)
	w.reconcile()
	w.sent("PUT deployments/deployment", "PUT foos/foo/status")
	w.ready("foo", metav1.ConditionFalse, metav1.ConditionTrue, v1alpha1.ReasonWaitingForReplicas)
}

// A webhook's denial has a code and no reason.
func TestDeniedByWebhook(t *testing.T) {
	for _, code := range []int32{http.StatusBadRequest, http.StatusForbidden, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity} {
		w := newWorld(t)
		w.createFoo("foo", spec("deployment", 1))
		w.sync()
		words := fmt.Sprintf("admission webhook denied the request: %s", strings.Repeat("no, ", 10_000))
		w.api.Refuse(func(r *http.Request) *apierrors.StatusError {
			if r.Method != http.MethodPost {
				return nil
			}
			return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: code, Message: words}}
		})
		if _, err := w.tryReconcile(fooKey); err == nil {
			t.Errorf("%d: no error, want the server's, to be retried", code)
		}
		w.sent("POST deployments", "PUT foos/foo/status")
		w.ready("foo", metav1.ConditionFalse, metav1.ConditionFalse, v1alpha1.ReasonForbidden)
		if message := w.foo("foo").Status.Conditions[0].Message; !strings.Contains(message, "webhook denied the request: no") || len(message) > 1024 {
			t.Errorf("%d: the message has %d bytes and begins %q", code, len(message), message[:100])
		}
	}
}

// Whatever keeps a Foo from its Deployment, its status says what runs.
func TestBlockedStatusIsObserved(t *testing.T) {
	for _, test := range []struct {
		reason, want string
		block        func(w *world)
	}{
		{"the name is taken", v1alpha1.ReasonNameTaken, func(w *world) {
			w.createDeployment("taken")
			w.set(fooPath+"foo", "taken", "spec", "deploymentName")
		}},
		{"the name is invalid", v1alpha1.ReasonInvalidSpec, func(w *world) { w.set(fooPath+"foo", "../x", "spec", "deploymentName") }},
		{"the number is invalid", v1alpha1.ReasonInvalidSpec, func(w *world) { w.set(fooPath+"foo", int64(-1), "spec", "replicas") }},
	} {
		t.Run(test.reason, func(t *testing.T) {
			w := converged(t, 2)
			w.rollOut("deployment", 2)
			test.block(w)
			for _, available := range []int32{2, 1} {
				w.set(deploymentPath+"deployment", int64(available), "status", "availableReplicas")
				w.sync()
				w.reconcile()
				w.sent("PUT foos/foo/status")
				w.ready("foo", metav1.ConditionFalse, metav1.ConditionFalse, test.want)
				if got := w.foo("foo").Status.AvailableReplicas; got != available {
					t.Errorf("%d available replicas, want %d", got, available)
				}
			}
		})
	}
}

// Renamed from A to B, back to A and then to a name that is taken, before any
// Deployment was deleted: a blocked Foo deletes none. A, written for the oldest
// generation, is the one with ready Pods.
func TestBlockedFooDeletesNothing(t *testing.T) {
	w := converged(t, 1)
	w.rollOut("deployment", 1)
	w.createDeployment("taken")
	for i, name := range []string{"b", "deployment", "taken"} {
		// The cache has the name before.
		w.sync()
		w.set(fooPath+"foo", name, "spec", "deploymentName")
		if i == 0 {
			continue
		}
		if after := w.reconcile(); after != time.Second {
			t.Errorf("reconcile again after %s, want 1s", after)
		}
	}
	w.sent("POST deployments", "GET foos/foo", "GET foos/foo")
	for range 2 {
		w.sync()
		w.reconcile()
	}
	w.sent("PUT foos/foo/status")
	w.ready("foo", metav1.ConditionFalse, metav1.ConditionFalse, v1alpha1.ReasonNameTaken)
	if got := w.foo("foo").Status.AvailableReplicas; got != 1 {
		t.Errorf("%d available replicas, want the 1 that runs", got)
	}
	w.deployment("deployment")
	w.deployment("b")

	// When the name is free, the Foo takes it and gives up the others.
	w.api.Remove(deploymentPath + "taken")
	w.sync()
	w.reconcile()
	requests := w.api.Requests()
	slices.Sort(requests[1 : len(requests)-1])
	if want := []string{"POST deployments", "DELETE deployments/b", "DELETE deployments/deployment", "GET foos/foo", "GET foos/foo", "PUT foos/foo/status"}; !slices.Equal(requests, want) {
		t.Errorf("sent %v, want %v", requests, want)
	}
}

// A webhook takes the change back, so that an update writes nothing. Nothing is reported
// as updated, again and again.
func TestUpdateWithoutEffect(t *testing.T) {
	w := converged(t, 1)
	w.api.Mutate(func(r *http.Request, object map[string]any) {
		if strings.HasPrefix(r.URL.Path, deploymentPath) {
			_ = unstructured.SetNestedField(object, int64(1), "spec", "replicas")
		}
	})
	w.set(fooPath+"foo", int64(3), "spec", "replicas")
	// The first update writes the generation that it is for.
	for _, want := range [][]string{{"Normal Updated Updated Deployment deployment"}, nil, nil} {
		w.sync()
		w.reconcile()
		w.told(want...)
		if sent := w.api.Requests(); len(sent) == 0 || sent[0] != "PUT deployments/deployment" {
			t.Errorf("sent %v, want an update of the Deployment", sent)
		}
	}
}

// What is forbidden is tried again, and said once, however often it is tried and
// however the answer varies.
func TestForbidden(t *testing.T) {
	w := newWorld(t)
	w.createFoo("foo", spec("deployment", 1))
	w.sync()
	for i, want := range [][]string{{"POST deployments", "PUT foos/foo/status"}, {"POST deployments"}, {"POST deployments"}} {
		w.api.Refuse(func(r *http.Request) *apierrors.StatusError {
			if r.Method != http.MethodPost {
				return nil
			}
			return apierrors.NewForbidden(schema.GroupResource{Group: "apps", Resource: "deployments"}, "deployment", fmt.Errorf("exceeded quota, used: %d", i+7))
		})
		if _, err := w.tryReconcile(fooKey); !apierrors.IsForbidden(err) {
			t.Errorf("error %v, want Forbidden", err)
		}
		w.sent(want...)
		w.sync()
	}
	w.ready("foo", metav1.ConditionFalse, metav1.ConditionFalse, v1alpha1.ReasonForbidden)
	w.told(`Warning Forbidden create Deployment default/deployment: deployments.apps "deployment" is forbidden: exceeded quota, used: 7`)

	w.api.Refuse(nil)
	w.reconcile()
	w.sent("POST deployments", "PUT foos/foo/status")
	w.ready("foo", metav1.ConditionFalse, metav1.ConditionTrue, v1alpha1.ReasonWaitingForReplicas)
}

// Also a look that is forbidden is said: without it an old Deployment cannot go.
func TestForbiddenLook(t *testing.T) {
	w := converged(t, 1)
	w.set(fooPath+"foo", "renamed", "spec", "deploymentName")
	w.sync()
	w.api.Refuse(func(r *http.Request) *apierrors.StatusError {
		if r.Method != http.MethodGet {
			return nil
		}
		return apierrors.NewForbidden(v1alpha1.Resource("foos"), "foo", errors.New("no get"))
	})
	if _, err := w.tryReconcile(fooKey); !apierrors.IsForbidden(err) {
		t.Errorf("error %v, want Forbidden", err)
	}
	w.sent("POST deployments", "GET foos/foo", "PUT foos/foo/status")
	w.ready("foo", metav1.ConditionFalse, metav1.ConditionFalse, v1alpha1.ReasonForbidden)
}
