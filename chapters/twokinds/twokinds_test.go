package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/internal/tests"
	"example.com/byhand/kit/check"
	"example.com/byhand/kit/crd"
	"example.com/byhand/kit/deepcopy"
)

var parts = check.Kind{Scheme: scheme, Plural: resource, CRD: "config/crd/teams.twokinds.examples-gzh.com.yaml", Sample: "config/samples/team.yaml"}

// TestKind: the definition has the fields of the Go types, and a JSON round trip loses nothing.
func TestKind(t *testing.T) {
	text, err := os.ReadFile(parts.CRD)
	if err != nil {
		t.Fatal(err)
	}
	crd.Compare(t, "Team", reflect.TypeFor[Team](), crd.Read(t, text).Spec.Versions[0].Schema.OpenAPIV3Schema)
	deepcopy.RoundTrip(t, scheme)
}

const (
	namespaced = "/namespaces/default/"
	teamPath   = "/apis/twokinds.examples-gzh.com/v1alpha1" + namespaced + "teams/example-team"
	secretPath = "/api/v1" + namespaced + "secrets/byhand-token"
	fooPath    = "/apis/samplecontroller.k8s.io/v1alpha1" + namespaced + "foos/example-team-"
	password   = "czNjcmV0" // in base64: s3cret
)

// world is an in-memory API server and the program, in a bubble: time passes only when all goroutines wait.
type world struct {
	*check.Program
	seen int // the number of writes already returned
}

// start runs a test while the program runs with synced stores.
func start(t *testing.T, test func(w *world)) {
	t.Helper()
	program := func(ctx context.Context, config *rest.Config) error { return run(ctx, config, "") }
	parts.Run(t, program, func(p *check.Program) { test(&world{Program: p}) }, tests.Resources()...)
}

// soon waits much less than any resync or back-off of the program, so only an event can cause a change
// in this time.
func (w *world) soon() { time.Sleep(time.Millisecond); synctest.Wait() }

// addSecret creates a Secret as kubectl apply does: with the token in an annotation as well.
func (w *world) addSecret(kind, token string) {
	w.Add(secretPath, &unstructured.Unstructured{Object: map[string]any{"type": kind, "data": map[string]any{"token": token},
		"metadata": map[string]any{"annotations": map[string]any{corev1.LastAppliedConfigAnnotation: token}}}})
}

// addFoo creates a ready Foo without an owner.
func (w *world) addFoo(member string) {
	w.Add(fooPath+member, &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"deploymentName": "d"}}})
	w.report(member, metav1.ConditionTrue)
}

// report makes a Foo ready or not, as its controller does.
func (w *world) report(member string, status metav1.ConditionStatus) {
	w.Edit(fooPath+member, func(foo *unstructured.Unstructured) {
		condition := map[string]any{"type": v1alpha1.FooReady, "status": string(status), "reason": "R", "message": "m", "lastTransitionTime": "2026-01-01T00:00:00Z"}
		foo.Object["status"] = map[string]any{"observedGeneration": foo.GetGeneration(), "conditions": []any{condition}}
	})
}

func (w *world) team() *Team {
	team := &Team{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(w.Get(teamPath).Object, team); err != nil {
		w.Fatal(err)
	}
	return team
}

// is waits briefly, then compares the Team's status: the number of ready Foos, the reason and the message.
func (w *world) is(want string) {
	w.Helper()
	w.soon()
	got := "nothing"
	if s := w.team().Status; len(s.Conditions) == 1 {
		got = fmt.Sprintf("%d %s: %s", s.ReadyFoos, s.Conditions[0].Reason, s.Conditions[0].Message)
	}
	if got != want {
		w.Errorf("the Team's status is %q, want %q", got, want)
	}
}

// writes returns the program's writes since the last call.
func (w *world) writes() []string {
	w.soon()
	all := w.Writes()
	since := all[w.seen:]
	w.seen = len(all)
	return since
}

func (w *world) sends(want ...string) {
	w.Helper()
	if got := w.writes(); !slices.Equal(got, want) {
		w.Errorf("it sent %q, want %q", got, want)
	}
}

const missing = "0 SecretMissing: no Secret byhand-token of type " + secretType + " with a token exists"

// TestSecret creates the Secret after the Team, changes it and deletes it. Each time the Team is enqueued
// at once, too fast for a poll.
func TestSecret(t *testing.T) {
	start(t, func(w *world) {
		w.Create()
		w.is(missing)
		w.sends("PUT teams/example-team/status")
		w.addSecret("Opaque", password)
		w.sends() // a Secret of another type is not even in memory
		w.Remove(secretPath)
		w.addSecret(secretType, "")
		w.sends() // an empty token does not count

		w.Edit(secretPath, func(secret *unstructured.Unstructured) { secret.Object["data"] = map[string]any{"token": "bmV3"} })
		w.is("0 WaitingForFoos: not ready: [example-team-anna example-team-ben]")
		w.sends("POST foos", "POST foos", "PUT teams/example-team/status")
		if got, want := w.team().Status.SecretVersion, w.Get(secretPath).GetResourceVersion(); got != want {
			t.Errorf("secretVersion %s, want %s", got, want)
		}
		w.Edit(secretPath, func(secret *unstructured.Unstructured) { secret.Object["data"] = map[string]any{"token": "bmV3ZXI="} })
		w.sends("PUT teams/example-team/status")

		w.Remove(secretPath)
		w.is(missing)
		if foos := w.List("foos"); len(foos) != 2 {
			t.Errorf("%d Foos, want 2: deleting the Secret deletes no Foo", len(foos))
		}
	})
}

// TestNothingLeaks: a Secret in memory reveals nothing of its content. TestRefused checks what the
// program writes.
func TestNothingLeaks(t *testing.T) {
	once, _ := withoutContent(&corev1.Secret{Data: map[string][]byte{"token": []byte(password), "other": []byte(password)},
		ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{corev1.LastAppliedConfigAnnotation: password}}})
	twice, err := withoutContent(once)
	if text := fmt.Sprintf("%q", twice); err != nil || strings.Contains(text, password) || len(twice.(*corev1.Secret).Data["token"]) == 0 {
		t.Errorf("the Secret in memory is %s (%v)", text, err)
	}
}

// TestRollUp makes two Foos ready. Neither a change that does not affect the roll-up nor a resync
// causes a write.
func TestRollUp(t *testing.T) {
	start(t, func(w *world) {
		w.Create()
		w.addSecret(secretType, password)
		w.soon()
		w.report("ben", metav1.ConditionTrue)
		w.is("1 WaitingForFoos: not ready: [example-team-anna]")
		w.report("anna", metav1.ConditionTrue)
		w.is("2 Ready: ")
		w.writes()
		w.Edit(fooPath+"ben", func(foo *unstructured.Unstructured) { foo.SetLabels(map[string]string{"a": "b"}) })
		time.Sleep(time.Hour)
		w.sends()

		// A new spec: the condition belongs to the earlier one.
		w.Edit(fooPath+"ben", func(foo *unstructured.Unstructured) {
			_ = unstructured.SetNestedField(foo.Object, "other", "spec", "deploymentName")
		})
		w.is("1 WaitingForFoos: not ready: [example-team-ben]")
		w.report("ben", metav1.ConditionTrue)
		w.report("anna", metav1.ConditionFalse)

		w.writes()
		w.Remove(fooPath + "anna") // It is recreated.
		w.sends("POST foos")
		w.Edit(teamPath, func(team *unstructured.Unstructured) {
			_ = unstructured.SetNestedStringSlice(team.Object, []string{"anna", "ben", "cleo"}, "spec", "members")
		})
		w.is("1 WaitingForFoos: not ready: [example-team-anna example-team-cleo]")
		// A Team that is being deleted gets no new Foo when its Foos are deleted.
		w.Delete(teamPath, metav1.DeletePropagationForeground)
		w.writes()
		w.Remove(fooPath + "ben")
		w.sends()
		check.Role(t, "config/rbac/role.yaml", w.APIServer.Log(), "update teams/finalizers")
	})
}

// TestAnyOrder: the order in which the kinds are observed does not matter. A user creates one of the
// Foos, without an owner.
func TestAnyOrder(t *testing.T) {
	acts := map[string]func(w *world){
		"team":   func(w *world) { w.Create() },
		"secret": func(w *world) { w.addSecret(secretType, password) },
		"foo":    func(w *world) { w.addFoo("ben") },
	}
	for _, order := range []string{"team secret foo", "team foo secret", "secret team foo", "secret foo team", "foo team secret", "foo secret team"} {
		for _, pause := range []time.Duration{0, time.Minute} {
			t.Run(fmt.Sprint(order, " ", pause), func(t *testing.T) {
				start(t, func(w *world) {
					for name := range strings.FieldsSeq(order) {
						acts[name](w)
						time.Sleep(pause)
					}
					w.soon()
					w.Remove(fooPath + "ben") // The Team's Foo is created at once, whoever owned this one.
					w.soon()
					w.report("anna", metav1.ConditionTrue)
					time.Sleep(time.Second) // a write with a conflict backs off for some milliseconds
					w.is("1 WaitingForFoos: not ready: [example-team-ben]")
				})
			})
		}
	}
}

// TestStranger: a foreign Foo is not changed, and does not count. After its deletion the Team gets a Foo.
func TestStranger(t *testing.T) {
	start(t, func(w *world) {
		w.addSecret(secretType, password)
		w.addFoo("ben")
		w.soon() // Otherwise a POST of this Foo may fail, and a back-off is longer than soon.
		w.Create()
		w.soon()
		w.report("anna", metav1.ConditionTrue)
		w.is("1 WaitingForFoos: not ready: [example-team-ben (not of this Team)]")
		w.writes()
		w.Remove(fooPath + "ben")
		w.is("1 WaitingForFoos: not ready: [example-team-ben]")
		w.sends("POST foos", "PUT teams/example-team/status")
	})
}

// TestRefused: a rejected write is reported without the token, and retried with a back-off, even if its
// message changes each time.
func TestRefused(t *testing.T) {
	start(t, func(w *world) {
		w.Refuse(func(r *http.Request) *apierrors.StatusError {
			if r.Method == http.MethodPost {
				return apierrors.NewForbidden(v1alpha1.Resource("foos"), "", errors.New("request "+rand.Text()))
			}
			return nil
		})
		w.addSecret(secretType, password)
		w.Create()
		w.soon()
		for _, change := range w.History() {
			text, _ := json.Marshal(change)
			if has := regexp.MustCompile(password + "|s3cret").Match(text); has != (change.Path == secretPath) {
				t.Errorf("%s has the token: %t: %s", change.Path, has, text)
			}
		}
		w.is("0 WriteFailed: the API server rejects a Foo: see the log")
		w.writes()
		time.Sleep(time.Hour)
		// Two POSTs every 30 seconds, and no more writes of the status.
		if sent := w.writes(); len(sent) < 100 || len(sent) > 300 || slices.Contains(sent, "PUT teams/example-team/status") {
			t.Errorf("%d writes in an hour, the last are %q", len(sent), sent[max(0, len(sent)-3):])
		}
		w.Refuse(nil)
		time.Sleep(time.Hour)
		w.is("0 WaitingForFoos: not ready: [example-team-anna example-team-ben]")
	})
}
