package foo_test

import (
	"context"
	"encoding/json"
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

// Foos that cannot have the Deployment that they ask for, and the API server's no.

// policy is the answer to a Deployment that a policy denies without a reason: its text
// stands in a cause that names no field.
func policy(text string) *apierrors.StatusError {
	err := apierrors.NewInvalid(schema.GroupKind{Group: "apps", Kind: "Deployment"}, "deployment", nil)
	err.ErrStatus.Message += ": " + text
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Message: text}}
	return err
}

// refuse answers the requests with this method below path with err.
func (w *world) refuse(method, path string, err *apierrors.StatusError) {
	w.api.Refuse(func(r *http.Request) *apierrors.StatusError {
		if r.Method == method && strings.HasPrefix(r.URL.Path+"/", path) {
			return err
		}
		return nil
	})
}

// again reconciles n times, each time after the longest back-off, with stores that show what
// was written. It returns what was sent.
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

// A policy's denial is told in the policy's words and tried again, after its back-off, and
// what runs meanwhile is still told.
func TestDeniedByPolicy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := converged(t, 1)
		w.rollOut("deployment", 1)
		w.set(fooPath+"foo", int64(3), "spec", "replicas")
		w.sync()
		w.refuse(http.MethodPut, deploymentPath, policy("ValidatingAdmissionPolicy 'at-most-two' denied request: two are enough"))
		w.fails(apierrors.IsInvalid)
		w.sent("GET foos/foo", "PUT deployments/deployment", "PUT foos/foo/status")
		w.ready("foo", v1alpha1.ReasonForbidden)
		if message := w.foo("foo").Status.Conditions[0].Message; !strings.Contains(message, "'at-most-two' denied request: two are enough") {
			t.Errorf("message %q does not have the policy's words", message)
		}

		// An event during the back-off: the numbers are told, the update is not tried.
		w.again(1)
		w.set(deploymentPath+"deployment", int64(0), "status", "availableReplicas")
		w.sync()
		if after := w.reconcile(); after <= 0 {
			t.Errorf("look again after %s, want the rest of the back-off", after)
		}
		w.sent("PUT foos/foo/status")
		w.available(0)
		if diff := cmp.Diff([]string{"GET foos/foo", "PUT deployments/deployment"}, w.again(1)); diff != "" {
			t.Error("after the back-off (-want +got):", diff)
		}

		// The policy is lifted. Nothing tells of it: the retry finds out.
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
		{"the number is invalid", v1alpha1.ReasonInvalidSpec, func(w *world) { w.set(fooPath+"foo", int64(-1), "spec", "replicas") }},
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

// Renamed from A to B, where A could not be deleted, and then to a name that is taken: a blocked
// Foo deletes none.
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

	// When the name is free, the Foo takes it and gives up the others.
	w.api.Remove(deploymentPath + "taken")
	w.syncAndReconcile()
	requests := w.api.Requests()
	slices.Sort(requests[2 : len(requests)-1])
	if want := []string{"GET foos/foo", "POST deployments", "DELETE deployments/b", "DELETE deployments/deployment", "GET deployments/taken", "GET deployments/taken", "GET foos/foo", "GET foos/foo", "PUT foos/foo/status"}; !slices.Equal(requests, want) {
		t.Errorf("sent %v, want %v", requests, want)
	}
}

// nameEach is a webhook that gives each new Deployment a name of its own, and takes its owner if strip
// is set. It counts them.
func (w *world) nameEach(strip bool) (named *int) {
	named = new(int)
	w.api.Mutate(func(r *http.Request, object map[string]any) {
		if r.Method != http.MethodPost {
			return
		}
		*named++
		_ = unstructured.SetNestedField(object, fmt.Sprint("named-", *named), "metadata", "name")
		if strip {
			unstructured.RemoveNestedField(object, "metadata", "ownerReferences")
		}
	})
	return named
}

// A webhook gives each new Deployment a name of its own. Nothing is left of any, and the condition says so.
// The Foo counts the Deployment of its earlier name, which runs.
func TestNamedByWebhook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := converged(t, 3)
		w.rollOut("deployment", 3)
		named := w.nameEach(false)
		w.set(fooPath+"foo", "renamed", "spec", "deploymentName")
		w.sync()
		_, _ = w.tryReconcile(fooKey)
		w.sent("GET foos/foo", "POST deployments", "DELETE deployments/named-1", "PUT foos/foo/status")
		w.available(3)
		w.again(10)
		w.ready("foo", v1alpha1.ReasonChangedByOthers)
		w.available(3)
		if left := w.api.List("deployments"); *named < 2 || len(left) != 1 {
			t.Errorf("after %d tries %d Deployments are left, want the old one", *named, len(left))
		}
		w.told("Warning ChangedByOthers create Deployment default/renamed: metadata.name is not as it was sent: does an admission webhook change it?")
	})
}

// As before, and what was made under another name stays: nobody may delete it, or it is not the Foo's.
// Each try leaves one more, so the tries become few.
func TestNamedByWebhookAndNotDeleted(t *testing.T) {
	for _, strip := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.nameEach(strip)
			w.refuse(http.MethodDelete, deploymentPath, apierrors.NewForbidden(schema.GroupResource{Resource: "deployments"}, "named-1", errors.New("no right to delete")))
			w.createFoo("foo", spec("deployment", 1))
			w.sync()
			_, _ = w.tryReconcile(fooKey)
			w.again(720) // 6 hours
			if left := w.api.List("deployments"); len(left) > 13 {
				t.Errorf("after 6 hours %d Deployments are left", len(left))
			}
			w.ready("foo", v1alpha1.ReasonChangedByOthers)
		})
	}
}

// Something between answers the POST with another Deployment than the one that was made: that is kept,
// whether it is a stranger's or the Foo's own of an earlier name.
func TestAnotherAnswersForCreate(t *testing.T) {
	for _, other := range []string{"theirs", "deployment"} {
		w := converged(t, 1)
		w.api.Add(deploymentPath+"theirs", &unstructured.Unstructured{Object: map[string]any{}})
		w.api.Intercept(func(rw http.ResponseWriter, r *http.Request) (answered bool) {
			if answered = r.Method == http.MethodPost; answered {
				rw.Header().Set("Content-Type", "application/json")
				_ = json.NewEncoder(rw).Encode(w.api.Get(deploymentPath + other))
			}
			return answered
		})
		w.set(fooPath+"foo", "renamed", "spec", "deploymentName")
		w.sync()
		_, _ = w.tryReconcile(fooKey)
		w.ready("foo", v1alpha1.ReasonChangedByOthers)
		if w.api.Get(deploymentPath+other) == nil {
			t.Errorf("Deployment %s is deleted", other)
		}
	}
}

// Somebody changes the reference to the Foo, and adds another one. The Foo still controls its
// Deployment: the garbage collector looks at the UID.
func TestReferenceOfOthers(t *testing.T) {
	w := converged(t, 1)
	w.api.Edit(deploymentPath+"deployment", func(o *unstructured.Unstructured) {
		controls := o.GetOwnerReferences()[0]
		controls.Name = "wrong"
		owns := controls
		owns.Controller, owns.BlockOwnerDeletion = nil, nil
		o.SetOwnerReferences([]metav1.OwnerReference{owns, controls})
	})
	w.set(fooPath+"foo", int64(3), "spec", "replicas")
	w.syncAndReconcile()
	w.sent("GET foos/foo", "PUT deployments/deployment", "PUT foos/foo/status")
	references := w.deployment("deployment").OwnerReferences
	if got := *w.deployment("deployment").Spec.Replicas; got != 3 || len(references) != 2 || references[1].Name != "foo" {
		t.Errorf("%d replicas, want 3; references %v", got, references)
	}
}

// A webhook takes the change back and stamps the object, so that each update is an event.
// The update waits for its back-off all the same, and the condition names the field.
func TestNoHotLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, writes := converged(t, 1), 0
		w.api.Mutate(func(r *http.Request, object map[string]any) {
			if strings.HasPrefix(r.URL.Path, deploymentPath) {
				writes++
				_ = unstructured.SetNestedField(object, int64(1), "spec", "replicas")
				_ = unstructured.SetNestedField(object, fmt.Sprint(writes), "spec", "template", "metadata", "annotations", "written")
			}
		})
		w.set(fooPath+"foo", int64(3), "spec", "replicas")
		for range 100 {
			w.sync()
			_, _ = w.tryReconcile(fooKey)
		}
		w.sent("GET foos/foo", "PUT deployments/deployment", "PUT foos/foo/status")
		w.ready("foo", v1alpha1.ReasonChangedByOthers)
		message := "update Deployment default/deployment: spec.replicas is not as it was sent: does an admission webhook change it?"
		if got := w.foo("foo").Status.Conditions[0].Message; got != message {
			t.Errorf("message %q, want %q", got, message)
		}
		if diff := cmp.Diff([]string{"GET foos/foo", "PUT deployments/deployment", "GET foos/foo", "PUT deployments/deployment"}, w.again(2)); diff != "" {
			t.Error("after the back-off (-want +got):", diff)
		}
		w.told("Warning ChangedByOthers " + message)

		w.api.Mutate(nil)
		w.again(1)
		w.ready("foo", v1alpha1.ReasonWaitingForReplicas)
		w.told("Normal Updated Updated spec.replicas of Deployment deployment")
	})
}

// A webhook strips the owner reference of what is written: then the Foo does not have the new
// Deployment, and keeps the old one.
func TestOwnerIsStripped(t *testing.T) {
	for _, test := range []struct {
		reason string
		change func(w *world)
	}{
		{"of a new Deployment", func(w *world) { w.set(fooPath+"foo", "renamed", "spec", "deploymentName") }},
		{"of one that is there", func(w *world) {
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
				w.fails(says("metadata.ownerReferences is not as it was sent"))
				w.ready("foo", v1alpha1.ReasonChangedByOthers)
				if sent := append(w.api.Requests(), w.again(3)...); strings.Contains(fmt.Sprint(sent), "DELETE") {
					t.Errorf("sent %v", sent)
				}
				w.ready("foo", v1alpha1.ReasonNameTaken)
			})
		})
	}
}

// A DELETE is refused for a minute: nothing else waits for it. Both refusals are told when there
// are two.
func TestRefusalHoldsUpNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := converged(t, 1)
		w.set(fooPath+"foo", "renamed", "spec", "deploymentName")
		refused := func(method string) *apierrors.StatusError {
			return apierrors.NewForbidden(schema.GroupResource{Group: "apps", Resource: "deployments"}, "deployment", errors.New(method+" is protected"))
		}
		w.refuse(http.MethodDelete, deploymentPath, refused("delete"))
		w.again(8)
		w.told("Normal Created Created Deployment renamed", `Warning Forbidden delete Deployment default/deployment: deployments.apps "deployment" is forbidden: delete is protected`)

		// The named one is deleted by a person, and drifts.
		w.api.Remove(deploymentPath + "renamed")
		w.syncAndReconcile()
		w.sent("GET foos/foo", "POST deployments")
		w.set(deploymentPath+"renamed", int64(7), "spec", "replicas")
		w.syncAndReconcile()
		w.sent("GET foos/foo", "PUT deployments/renamed")
		w.told("Normal Created Created Deployment renamed", "Normal Updated Updated spec.replicas of Deployment renamed")

		// Renamed again: two are refused.
		w.set(fooPath+"foo", "third", "spec", "deploymentName")
		w.again(2)
		message := w.foo("foo").Status.Conditions[0].Message
		if !strings.Contains(message, "delete Deployment default/deployment: ") || !strings.Contains(message, "delete Deployment default/renamed: ") {
			t.Errorf("message %q, want both refusals", message)
		}
		w.told("Normal Created Created Deployment third", `Warning Forbidden delete Deployment default/renamed: deployments.apps "deployment" is forbidden: delete is protected`)
	})
}

// A denial with an identifier of its own each time is one cause: one Event, and its message is
// renewed after five minutes.
func TestDenialWithIdentifier(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, id := newWorld(t), 0
		w.createFoo("foo", spec("app-v1", 1))
		w.api.Refuse(func(r *http.Request) *apierrors.StatusError {
			if r.Method != http.MethodPost {
				return nil
			}
			id++
			denial := policy(fmt.Sprintf("ValidatingAdmissionPolicy 'p' with binding 'b' denied request: decision %x", id*7919))
			denial.ErrStatus.Reason = metav1.StatusReason(fmt.Sprintf("decision %x", id*7919)) // A webhook may do that, too.
			return denial
		})
		if writes := strings.Count(fmt.Sprint(w.again(20)), "PUT"); writes != 2 {
			t.Errorf("%d status writes in 10 minutes, want 2", writes)
		}
		if len(w.events.Events) != 1 {
			t.Errorf("%d Events, want 1", len(w.events.Events))
		}
		<-w.events.Events

		// The words about another spec are told at once, also when others were told just now.
		w.again(1)
		w.set(fooPath+"foo", int64(3), "spec", "replicas")
		w.again(1)
		if message := w.foo("foo").Status.Conditions[0].Message; !strings.HasSuffix(message, fmt.Sprintf("decision %x", id*7919)) || len(w.events.Events) != 0 {
			t.Errorf("message %q with %d Events, want the newest, and 0", message, len(w.events.Events))
		}

		// So are those about another Deployment. It is no other cause: an Event for each rename of one
		// Foo would take those of others.
		w.set(fooPath+"foo", "app-v2", "spec", "deploymentName")
		w.again(2)
		if message := w.foo("foo").Status.Conditions[0].Message; !strings.Contains(message, "app-v2") || len(w.events.Events) != 0 {
			t.Errorf("message %q with %d Events, want one that names app-v2, and 0", message, len(w.events.Events))
		}
	})
}

// A ready Foo loses its Deployment, and a new one cannot be made: it is not ready, at once.
func TestNotReadyWithoutDeployment(t *testing.T) {
	w := converged(t, 1)
	w.rollOut("deployment", 1)
	w.ready("foo", v1alpha1.ReasonAvailable)
	w.refuse(http.MethodPost, deploymentPath, apierrors.NewInternalError(errors.New("broken")))
	w.api.Remove(deploymentPath + "deployment")
	w.sync()
	w.fails(apierrors.IsInternalError)
	w.ready("foo", v1alpha1.ReasonWaitingForReplicas)
	w.told()
}

// Another controller sets a field back each time: the correction backs off, and it is told.
func TestSetBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, begin, corrections := converged(t, 1), time.Now(), 0
		for time.Since(begin) < 15*time.Second {
			if *w.deployment("deployment").Spec.Replicas == 1 {
				w.set(deploymentPath+"deployment", int64(7), "spec", "replicas")
			}
			w.sync()
			_, _ = w.tryReconcile(fooKey)
			corrections += strings.Count(fmt.Sprint(w.api.Requests()), "PUT deployments")
			time.Sleep(10 * time.Millisecond)
		}
		if corrections < 5 || corrections > 15 {
			t.Errorf("%d corrections in 15 s, want 5 to 15", corrections)
		}
		w.ready("foo", v1alpha1.ReasonChangedByOthers)
		if warnings := strings.Count(fmt.Sprint(w.recorded()), "Warning ChangedByOthers"); warnings != 1 {
			t.Errorf("%d warnings, want 1", warnings)
		}
		// It is told until the correction has stood for a minute.
		w.again(1)
		_, _ = w.tryReconcile(fooKey)
		w.ready("foo", v1alpha1.ReasonChangedByOthers)
		w.again(3)
		w.ready("foo", v1alpha1.ReasonWaitingForReplicas)
	})
}

// A webhook changes the status and stamps the Foo, so that each update is an event. That is
// an error, and waits for its back-off.
func TestStatusIsChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, writes := newWorld(t), 0
		w.createFoo("foo", spec("deployment", 1))
		w.api.Mutate(func(r *http.Request, object map[string]any) {
			if strings.HasPrefix(r.URL.Path, fooPath) {
				writes++
				unstructured.RemoveNestedField(object, "status", "selector")
				_ = unstructured.SetNestedField(object, fmt.Sprint(writes), "metadata", "annotations", "written")
			}
		})
		w.sync()
		w.fails(says("not as it was sent"))
		for range 100 {
			w.sync()
			if after := w.reconcile(); after <= 0 {
				t.Fatalf("look again after %s, want the rest of the back-off", after)
			}
		}
		w.sent("POST deployments", "PUT foos/foo/status")
		if diff := cmp.Diff([]string{"PUT foos/foo/status"}, w.again(1)); diff != "" {
			t.Error("after the back-off (-want +got):", diff)
		}
	})
}

// A webhook is down: each update fails with 500. After 10 s the status says so, in the words
// of the error, with one Event, and what runs is told at once.
func TestFailureThatLasts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := converged(t, 1)
		w.rollOut("deployment", 1)
		w.set(fooPath+"foo", int64(3), "spec", "replicas")
		w.refuse(http.MethodPut, deploymentPath, apierrors.NewInternalError(errors.New("failed calling webhook: connection refused")))
		w.set(deploymentPath+"deployment", int64(0), "status", "availableReplicas")
		w.sync()
		begin := time.Now()
		for time.Since(begin) < 10*time.Second {
			w.sync()
			after, err := w.tryReconcile(fooKey)
			if err == nil && after == 0 {
				t.Fatal("the update is not tried again")
			}
			w.ready("foo", v1alpha1.ReasonWaitingForReplicas)
			w.available(0)
			time.Sleep(max(after, time.Millisecond))
		}
		w.told()
		w.again(2)
		w.ready("foo", v1alpha1.ReasonRequestFailed)
		message := `update Deployment default/deployment: Internal error occurred: failed calling webhook: connection refused`
		w.told("Warning RequestFailed " + message)

		w.api.Refuse(nil)
		w.again(1)
		w.ready("foo", v1alpha1.ReasonWaitingForReplicas)
	})
}

// The CRD has no status subresource: each update is answered with NotFound. The first may be of
// a Foo that was just deleted, those that follow are an error that is logged.
func TestStatusNotFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.createFoo("foo", spec("deployment", 1))
		w.refuse(http.MethodPut, fooPath, apierrors.NewNotFound(v1alpha1.Resource("foos"), "foo"))
		for _, want := range []bool{true, false} {
			w.sync()
			if _, err := w.tryReconcile(fooKey); err == nil || apierrors.IsNotFound(err) != want {
				t.Errorf("error %v, want one that is NotFound: %t", err, want)
			}
			time.Sleep(30 * time.Second)
		}
	})
}

// What is forbidden is tried again, and said once, however often it is tried and
// however the answer varies.
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
		w.told(`Warning Forbidden create Deployment default/deployment: deployments.apps "deployment" is forbidden: exceeded quota, used: 7`)

		// A change of the spec is a new attempt: it does not wait.
		w.api.Refuse(nil)
		w.set(fooPath+"foo", int64(2), "spec", "replicas")
		w.syncAndReconcile()
		w.sent("GET foos/foo", "POST deployments", "PUT foos/foo/status")
		w.ready("foo", v1alpha1.ReasonWaitingForReplicas)
	})
}

// A quota refuses the new Deployment of a renamed Foo; then it is raised, and the DELETE of
// the old one is refused. The status says what is refused now, with an Event, and counts
// the new Deployment alone.
func TestNextRefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := converged(t, 1)
		w.rollOut("deployment", 1)
		w.set(fooPath+"foo", "renamed", "spec", "deploymentName")
		forbidden := apierrors.NewForbidden(schema.GroupResource{Group: "apps", Resource: "deployments"}, "x", errors.New("no"))
		w.refuse(http.MethodPost, deploymentPath, forbidden)
		w.again(2)
		w.refuse(http.MethodDelete, deploymentPath, forbidden)
		w.again(2)
		w.told(`Warning Forbidden create Deployment default/renamed: deployments.apps "x" is forbidden: no`, "Normal Created Created Deployment renamed",
			`Warning Forbidden delete Deployment default/deployment: deployments.apps "x" is forbidden: no`)
		w.ready("foo", v1alpha1.ReasonForbidden)
		w.available(0)
	})
}

// The conditions of others are left alone, whatever their type. One with a time that the CRD refuses
// in the form in which Go sends it gets another.
func TestConditionsOfOthers(t *testing.T) {
	for at, isKept := range map[string]bool{"2026-01-01T00:00:00Z": true, "1900-01-01T00:30:00Z": true,
		"0001-01-01T00:00:00Z": false, "0001-01-01T00:00:00.5Z": false, "0001-01-01T00:00:00+01:00": false,
		"1900-01-01T00:30:00+01:00": false, "9999-12-31T23:30:00-01:00": false} {
		w := converged(t, 1)
		conditions, _, _ := unstructured.NestedSlice(w.api.Get(fooPath+"foo").Object, "status", "conditions")
		theirs := map[string]any{"type": "Progressing", "status": "True", "reason": "Theirs", "message": "", "lastTransitionTime": at}
		w.set(fooPath+"foo", append(conditions, theirs), "status", "conditions")
		w.syncAndReconcile()
		w.sent()
		w.rollOut("deployment", 1)
		got, sent := w.foo("foo").Status.Conditions, time.Time{}
		if len(got) == 2 {
			sent = got[1].LastTransitionTime.UTC()
		}
		if len(got) != 2 || got[1].Reason != "Theirs" || sent.Year() < 1900 || sent.Year() > 9999 || isKept != (sent.Format(time.RFC3339) == at) {
			t.Errorf("%s: conditions %+v, want Theirs, too, with a time that can be sent", at, got)
		}
	}
}

// Also a look that is forbidden is said: without it there is no new Deployment.
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

// A look that fails for 10 s is told: the API server says that the Foo is gone, and it is not.
func TestLookThatLies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := converged(t, 1)
		w.set(fooPath+"foo", "renamed", "spec", "deploymentName")
		w.refuse(http.MethodGet, fooPath, apierrors.NewNotFound(v1alpha1.Resource("foos"), "foo"))
		for range 20 {
			w.sync()
			_, _ = w.tryReconcile(fooKey)
			time.Sleep(time.Second)
		}
		w.ready("foo", v1alpha1.ReasonRequestFailed)
	})
}

// A look takes 6 s, and finds that the Foo has changed. No request has failed, and nothing is told.
func TestSlowLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := converged(t, 1)
		w.api.Remove(deploymentPath + "deployment")
		w.syncDeployments()
		w.set(fooPath+"foo", int64(2), "spec", "replicas")
		w.api.Intercept(func(_ http.ResponseWriter, _ *http.Request) bool {
			time.Sleep(6 * time.Second)
			return false
		})
		w.reconcile()
		w.sent("GET foos/foo")
		w.told()
	})
}

// The API server takes longer to answer an update than a reconcile may. There is time left in
// that same reconcile to say so.
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
		queue := controller.NewPriorityQueue("")
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

// A message that the CRD would refuse for its length is cut off.
func TestLongMessage(t *testing.T) {
	w := converged(t, 1)
	w.set(deploymentPath+"deployment", map[string]any{"observedGeneration": int64(1), "conditions": []any{
		map[string]any{"type": "ReplicaFailure", "status": "True", "message": strings.Repeat("no, ", 10_000)}}}, "status")
	w.syncAndReconcile()
	w.ready("foo", v1alpha1.ReasonReplicaFailure)
}

// A person takes the new Deployment from the Foo, and the cache does not show it yet: the old one stays.
func TestRenameToReleasedDeployment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := converged(t, 1)
		w.set(fooPath+"foo", "renamed", "spec", "deploymentName")
		w.refuse(http.MethodDelete, deploymentPath, policy("denied"))
		w.again(1)
		w.api.Refuse(nil)
		w.sync()
		w.set(deploymentPath+"renamed", []any{}, "metadata", "ownerReferences")
		time.Sleep(time.Second)
		if again := w.reconcile(); again != time.Second {
			t.Errorf("look again after %s, want 1s", again)
		}
		w.deployment("deployment")
	})
}

// A webhook changes the Deployment of the new name: the one of the old name runs on.
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
		w.fails(says("spec.replicas is not as it was sent"))
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
			t.Error("the old one is still there when the new one is right")
		}
	})
}
