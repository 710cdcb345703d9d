package foo_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/controller"
)

// Tests of Foos that cannot have their Deployment, and of rejected writes.

// policy is the response when a policy denies a Deployment without a reason: the text is in a
// cause that names no field.
func policy(text string) *apierrors.StatusError {
	err := apierrors.NewInvalid(schema.GroupKind{Group: "apps", Kind: "Deployment"}, "deployment", nil)
	err.ErrStatus.Message += ": " + text
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Message: text}}
	return err
}

func (w *world) refuse(method, path string, err *apierrors.StatusError) {
	w.api.Refuse(func(r *http.Request) *apierrors.StatusError {
		if r.Method == method && strings.HasPrefix(r.URL.Path+"/", path) {
			return err
		}
		return nil
	})
}

// again reconciles n times, each time after the longest back-off, and returns the requests.
func (w *world) again(n int) (sent []string) {
	w.Helper()
	for range n {
		time.Sleep(30 * time.Second)
		w.sync()
		_, _ = w.tryReconcile(fooKey)
		sent = append(sent, w.api.Requests()...)
	}
	w.sync()
	return sent
}

// The condition reports a policy's denial in the policy's words. The write is retried after its
// back-off, and the status still follows the Deployment.
func TestDeniedByPolicy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := converged(t, 1)
		w.rollOut("deployment", 1)
		w.set(fooPath+"foo", int64(3), "spec", "replicas")
		w.sync()
		w.refuse(http.MethodPut, deploymentPath, policy("ValidatingAdmissionPolicy 'at-most-two' denied request: two are enough"))
		w.fails(apierrors.IsInvalid)
		w.sent("PUT deployments/deployment", "PUT foos/foo/status")
		w.ready("foo", v1alpha1.ReasonForbidden)
		if message := w.foo("foo").Status.Conditions[0].Message; !strings.Contains(message, "'at-most-two' denied request: two are enough") {
			t.Errorf("message %q does not have the policy's words", message)
		}

		w.set(deploymentPath+"deployment", int64(0), "status", "availableReplicas")
		w.sync()
		w.fails(apierrors.IsInvalid)
		w.sent("PUT deployments/deployment", "PUT foos/foo/status")
		w.available(0)

		// The policy is removed. No event reports that: the retry succeeds.
		w.api.Refuse(nil)
		w.again(1)
		w.ready("foo", v1alpha1.ReasonWaitingForReplicas)
	})
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
		w.fails(says("webhook denied the request"))
		w.sent("POST deployments", "PUT foos/foo/status")
		w.ready("foo", v1alpha1.ReasonForbidden)
		if message := w.foo("foo").Status.Conditions[0].Message; !strings.Contains(message, "webhook denied the request: no") || len(message) > 1024 {
			t.Errorf("%d: the message has %d bytes and begins %q", code, len(message), message[:100])
		}
	}
}

// The status of a blocked Foo still reports the replicas that run.
func TestBlockedStatusIsObserved(t *testing.T) {
	for _, test := range []struct {
		reason, want string
		block        func(w *world)
	}{
		{"the name is taken", v1alpha1.ReasonNameTaken, func(w *world) {
			w.createDeployment("taken")
			w.set(fooPath+"foo", "taken", "spec", "deploymentName")
		}},
		{"replicas is invalid", v1alpha1.ReasonInvalidSpec, func(w *world) { w.set(fooPath+"foo", int64(-1), "spec", "replicas") }},
	} {
		t.Run(test.reason, func(t *testing.T) {
			w := converged(t, 2)
			w.rollOut("deployment", 2)
			test.block(w)
			for _, available := range []int32{2, 1} {
				w.set(deploymentPath+"deployment", int64(available), "status", "availableReplicas")
				w.syncAndReconcile()
				w.sent("PUT foos/foo/status")
				w.ready("foo", test.want)
				w.available(available)
			}
		})
	}
}

// A Foo has two Deployments with earlier names, and its new name is taken. A blocked Foo deletes neither.
func TestBlockedFooDeletesNothing(t *testing.T) {
	w := converged(t, 1)
	w.rollOut("deployment", 1)
	w.createDeployment("taken")
	w.createDeployment("b", controllerRef("samplecontroller.k8s.io/v1alpha1", "Foo", "foo", w.foo("foo").UID))
	w.set(fooPath+"foo", "taken", "spec", "deploymentName")
	w.syncAndReconcile()
	w.sent("PUT foos/foo/status")
	w.ready("foo", v1alpha1.ReasonNameTaken)
	w.available(1)
	w.deployment("deployment")
	w.deployment("b")

	// When the name is free, the Foo gets its Deployment, and the others are deleted.
	w.api.Remove(deploymentPath + "taken")
	w.syncAndReconcile()
	requests := w.api.Requests()
	slices.Sort(requests[2 : len(requests)-1])
	if want := []string{"GET foos/foo", "POST deployments", "DELETE deployments/b", "DELETE deployments/deployment", "GET deployments/taken", "GET deployments/taken", "GET foos/foo", "GET foos/foo", "PUT foos/foo/status"}; !slices.Equal(requests, want) {
		t.Errorf("sent %v, want %v", requests, want)
	}
}

// A webhook removes the owner reference from each write. The Foo does not control the new Deployment, so
// the old one is not deleted.
func TestOwnerIsStripped(t *testing.T) {
	for _, test := range []struct {
		reason string
		change func(w *world)
	}{
		{"of a new Deployment", func(w *world) { w.set(fooPath+"foo", "renamed", "spec", "deploymentName") }},
		{"of an existing Deployment", func(w *world) {
			w.createDeployment("renamed", controllerRef("samplecontroller.k8s.io/v1alpha1", "Foo", "foo", w.foo("foo").UID))
			w.set(fooPath+"foo", "renamed", "spec", "deploymentName")
		}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := converged(t, 1)
				test.change(w)
				w.api.Mutate(func(r *http.Request, object map[string]any) {
					if strings.HasPrefix(r.URL.Path+"/", deploymentPath) {
						unstructured.RemoveNestedField(object, "metadata", "ownerReferences")
					}
				})
				w.sync()
				w.fails(says("changes what the controller writes"))
				w.ready("foo", v1alpha1.ReasonChangedByOthers)
				if sent := append(w.api.Requests(), w.again(3)...); strings.Contains(fmt.Sprint(sent), "DELETE") {
					t.Errorf("sent %v", sent)
				}
				w.ready("foo", v1alpha1.ReasonNameTaken)
			})
		})
	}
}

// The Deployment of a ready Foo is deleted, and a new one cannot be created: Ready becomes False at once.
func TestNotReadyWithoutDeployment(t *testing.T) {
	w := converged(t, 1)
	w.rollOut("deployment", 1)
	w.ready("foo", v1alpha1.ReasonAvailable)
	w.refuse(http.MethodPost, deploymentPath, apierrors.NewInternalError(errors.New("broken")))
	w.api.Remove(deploymentPath + "deployment")
	w.sync()
	w.fails(apierrors.IsInternalError)
	w.ready("foo", v1alpha1.ReasonRequestFailed)
	w.told("Warning RequestFailed create Deployment deployment: Internal error occurred: broken")
}

// A forbidden write is retried. It is reported once, no matter how often it is retried and how the
// message varies.
func TestForbidden(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.createFoo("foo", spec("deployment", 1))
		for i, want := range [][]string{{"POST deployments", "PUT foos/foo/status"}, {"GET foos/foo", "POST deployments"}, {"GET foos/foo", "POST deployments"}} {
			w.refuse(http.MethodPost, deploymentPath, apierrors.NewForbidden(schema.GroupResource{Group: "apps", Resource: "deployments"}, "deployment", fmt.Errorf("exceeded quota, used: %d", i+7)))
			if diff := cmp.Diff(want, w.again(1)); diff != "" {
				t.Errorf("attempt %d (-want +got):\n%s", i+1, diff)
			}
		}
		w.ready("foo", v1alpha1.ReasonForbidden)
		w.told(`Warning Forbidden create Deployment deployment: deployments.apps "deployment" is forbidden: exceeded quota, used: 7`)

		// A change of the spec is a new attempt: it does not wait.
		w.api.Refuse(nil)
		w.set(fooPath+"foo", int64(2), "spec", "replicas")
		w.syncAndReconcile()
		w.sent("GET foos/foo", "POST deployments", "PUT foos/foo/status")
		w.ready("foo", v1alpha1.ReasonWaitingForReplicas)
	})
}

// A forbidden GET of the Foo is reported, too: it must succeed before the new Deployment is created.
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
	w.fails(apierrors.IsForbidden)
	w.sent("GET foos/foo", "PUT foos/foo/status")
	w.ready("foo", v1alpha1.ReasonForbidden)
}

// An update hangs. The same reconcile still reports it in the status.
func TestSlowWriteIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := converged(t, 1)
		w.set(fooPath+"foo", int64(3), "spec", "replicas")
		w.api.Intercept(func(_ http.ResponseWriter, r *http.Request) bool {
			if r.Method != http.MethodPut || !strings.HasPrefix(r.URL.Path, deploymentPath) {
				return false
			}
			<-r.Context().Done()
			return true
		})
		queue := controller.NewQueue("")
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		w.sync()
		queue.Add(fooKey)
		go func() {
			controller.New(queue, w.reconciler.Reconcile).Run(ctx, 1)
			close(ended)
		}()
		time.Sleep(controller.ReconcileTimeout - time.Second)
		cancel()
		<-ended
		w.ready("foo", v1alpha1.ReasonRequestFailed)
	})
}

// A message that is too long for the CRD's schema is cut off.
func TestLongMessage(t *testing.T) {
	w := converged(t, 1)
	w.set(deploymentPath+"deployment", map[string]any{"observedGeneration": int64(1), "conditions": []any{
		map[string]any{"type": "ReplicaFailure", "status": "True", "message": strings.Repeat("no, ", 10_000)}}}, "status")
	w.syncAndReconcile()
	w.ready("foo", v1alpha1.ReasonReplicaFailure)
	if got := len(w.foo("foo").Status.Conditions[0].Message); got > 1024 {
		t.Errorf("the message has %d bytes, want at most 1,024", got)
	}
}

// A user takes the new Deployment from the Foo or deletes it, and the cache does not show that yet: the
// old Deployment stays.
func TestRenameToLostDeployment(t *testing.T) {
	for reason, lose := range map[string]func(w *world){
		"released":      func(w *world) { w.set(deploymentPath+"renamed", []any{}, "metadata", "ownerReferences") },
		"being deleted": func(w *world) { w.api.Delete(deploymentPath+"renamed", metav1.DeletePropagationForeground) },
	} {
		t.Run(reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := converged(t, 1)
				w.set(fooPath+"foo", "renamed", "spec", "deploymentName")
				w.refuse(http.MethodDelete, deploymentPath, policy("denied"))
				w.again(1)
				w.api.Refuse(nil)
				lose(w)
				w.fails(controller.IsRace)
				w.sent("GET foos/foo", "GET deployments/renamed")
			})
		})
	}
}

func TestStatusIsChanged(t *testing.T) {
	w := newWorld(t)
	w.createFoo("foo", spec("deployment", 1))
	w.api.Mutate(func(r *http.Request, object map[string]any) {
		if strings.HasSuffix(r.URL.Path, "/status") {
			_ = unstructured.SetNestedField(object, int64(7), "status", "availableReplicas")
		}
	})
	w.sync()
	w.fails(says("update status: another client or an admission webhook changes what the controller writes"))
}

// A webhook changes the Deployment with the new name: the old Deployment is not deleted.
func TestRenameBesideWebhook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := converged(t, 1)
		w.set(fooPath+"foo", "renamed", "spec", "deploymentName")
		w.api.Mutate(func(r *http.Request, object map[string]any) {
			if strings.Contains(r.URL.Path, "/deployments") {
				_ = unstructured.SetNestedField(object, int64(0), "spec", "replicas")
			}
		})
		w.sync()
		w.fails(says("changes what the controller writes"))
		w.sent("GET foos/foo", "POST deployments", "PUT foos/foo/status")
		w.ready("foo", v1alpha1.ReasonChangedByOthers)

		w.refuse(http.MethodPut, deploymentPath, policy("denied"))
		w.again(1)
		w.deployment("deployment")
		w.api.Refuse(nil)
		w.api.Mutate(nil)
		w.again(1)
		w.again(1)
		if w.api.Get(deploymentPath+"deployment") != nil {
			t.Error("the old Deployment still exists, although the new one matches the spec")
		}
	})
}
