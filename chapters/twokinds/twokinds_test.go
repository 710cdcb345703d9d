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

// TestKind: the definition has the fields of the Go types, and JSON and back loses nothing.
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

// world is an API server in memory and the program, in a bubble: time passes when all wait.
type world struct {
	*check.Program
	seen int // of the writes
}

// start runs a test beside the program, whose stores are in sync.
func start(t *testing.T, test func(w *world)) {
	t.Helper()
	program := func(ctx context.Context, config *rest.Config) error { return run(ctx, config, "") }
	parts.Run(t, program, func(p *check.Program) { test(&world{Program: p}) }, tests.Resources()...)
}

// soon is much less than any resync or back-off of the program: what has happened then, an event
// has caused.
func (w *world) soon() { time.Sleep(time.Millisecond); synctest.Wait() }

// addSecret stores a Secret, as kubectl apply does: with its content in an annotation as well.
func (w *world) addSecret(kind, token string) {
	w.Add(secretPath, &unstructured.Unstructured{Object: map[string]any{"type": kind, "data": map[string]any{"token": token},
		"metadata": map[string]any{"annotations": map[string]any{corev1.LastAppliedConfigAnnotation: token}}}})
}

// addFoo stores a Foo that is nobody's, and is ready.
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

// is waits a little and compares what the Team says: its ready Foos, and reason and message of Ready.
func (w *world) is(want string) {
	w.Helper()
	w.soon()
	got := "nothing"
	if s := w.team().Status; len(s.Conditions) == 1 {
		got = fmt.Sprintf("%d %s: %s", s.ReadyFoos, s.Conditions[0].Reason, s.Conditions[0].Message)
	}
	if got != want {
		w.Errorf("the Team says %q, want %q", got, want)
	}
}

// writes are what the program has sent since the last call.
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
		w.Errorf("it has sent %q, want %q", got, want)
	}
}

const missing = "0 SecretMissing: there is no Secret byhand-token of the type " + secretType + " with a token"

// The Secret comes late, changes, and goes. Each time the Team is woken at once, and no time passes
// that a poll would need.
func TestSecret(t *testing.T) {
	start(t, func(w *world) {
		w.Create()
		w.is(missing)
		w.sends("PUT teams/example-team/status")
		w.addSecret("Opaque", password)
		w.sends() // Another type is another Secret, and is not even in memory.
		w.Remove(secretPath)
		w.addSecret(secretType, "")
		w.sends() // An empty token is none.

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
			t.Errorf("%d Foos, want 2: a Secret that goes deletes nothing", len(foos))
		}
	})
}

// What the program has in memory of a Secret says nothing of its content. TestRefused looks at what
// it writes.
func TestNothingLeaks(t *testing.T) {
	once, _ := withoutContent(&corev1.Secret{Data: map[string][]byte{"token": []byte(password), "other": []byte(password)},
		ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{corev1.LastAppliedConfigAnnotation: password}}})
	twice, err := withoutContent(once)
	if text := fmt.Sprintf("%q", twice); err != nil || strings.Contains(text, password) || len(twice.(*corev1.Secret).Data["token"]) == 0 {
		t.Errorf("in memory is %s (%v)", text, err)
	}
}

// Two Foos become ready. A change of a Foo that changes nothing of the roll-up is not written, nor
// is a resync.
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

		// Another spec: the condition is that of the earlier one.
		w.Edit(fooPath+"ben", func(foo *unstructured.Unstructured) {
			_ = unstructured.SetNestedField(foo.Object, "other", "spec", "deploymentName")
		})
		w.is("1 WaitingForFoos: not ready: [example-team-ben]")
		w.report("ben", metav1.ConditionTrue)
		w.report("anna", metav1.ConditionFalse)

		w.writes()
		w.Remove(fooPath + "anna") // It is made again.
		w.sends("POST foos")
		w.Edit(teamPath, func(team *unstructured.Unstructured) {
			_ = unstructured.SetNestedStringSlice(team.Object, []string{"anna", "ben", "cleo"}, "spec", "members")
		})
		w.is("1 WaitingForFoos: not ready: [example-team-anna example-team-cleo]")
		// A Team that is being deleted gets no Foo more, when its Foos go.
		w.Delete(teamPath, metav1.DeletePropagationForeground)
		w.writes()
		w.Remove(fooPath + "ben")
		w.sends()
		check.Role(t, "config/rbac/role.yaml", w.APIServer.Log(), "update teams/finalizers")
	})
}

// Which of the kinds is observed first does not matter. One Foo is there already,
// and is nobody's.
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
					w.Remove(fooPath + "ben") // When the stranger's goes, or the Team's own, it is created at once.
					w.soon()
					w.report("anna", metav1.ConditionTrue)
					time.Sleep(time.Second) // A write that met a conflict backs off for some milliseconds.
					w.is("1 WaitingForFoos: not ready: [example-team-ben]")
				})
			})
		}
	}
}

// Another's Foo is left alone, and does not count. When it goes, the Team has its own at once.
func TestStranger(t *testing.T) {
	start(t, func(w *world) {
		w.addSecret(secretType, password)
		w.addFoo("ben")
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

// What is refused is reported, without the token, and tried again with a back-off, also if its text is
// another one each time.
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
		w.is("0 WriteFailed: the API server refuses a Foo: the log says why")
		w.writes()
		time.Sleep(time.Hour)
		// Two POSTs each 30 seconds, and the status not once more.
		if sent := w.writes(); len(sent) < 100 || len(sent) > 300 || slices.Contains(sent, "PUT teams/example-team/status") {
			t.Errorf("%d writes in an hour, the last are %q", len(sent), sent[max(0, len(sent)-3):])
		}
		w.Refuse(nil)
		time.Sleep(time.Hour)
		w.is("0 WaitingForFoos: not ready: [example-team-anna example-team-ben]")
	})
}
