//go:build integration

package e2e

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

// random draws valid parts of a Foo.
type random struct{ *rand.Rand }

func pick[T any](r random, values ...T) T { return values[r.Intn(len(values))] }

// word returns 1 to max of these characters.
func (r random) word(characters string, max int) string {
	runes := []rune(characters)
	var word strings.Builder
	for range 1 + r.Intn(max) {
		word.WriteRune(runes[r.Intn(len(runes))])
	}
	return word.String()
}

func (r random) name() string {
	labels := make([]string, 1+r.Intn(3))
	for i := range labels {
		labels[i] = "a" + r.word("abc123-", 40) + "z"
	}
	return strings.Join(labels, ".")
}

func (r random) spec() v1alpha1.FooSpec {
	return v1alpha1.FooSpec{DeploymentName: r.name(), Replicas: pick(r, nil, new(int32(r.Intn(11))))}
}

func (r random) status() v1alpha1.FooStatus {
	status := v1alpha1.FooStatus{Replicas: pick(r, 0, r.Int31()), AvailableReplicas: r.Int31(), ObservedGeneration: pick(r, 0, r.Int63()), Selector: pick(r, "", r.word("a=b,é\" ", 20))}
	for i := range r.Intn(4) {
		status.Conditions = append(status.Conditions, metav1.Condition{
			Type:               fmt.Sprintf("%s%d", pick(r, "Ready", "example.com/Ready"), i),
			Status:             pick(r, metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown),
			ObservedGeneration: pick(r, 0, r.Int63()),
			LastTransitionTime: metav1.NewTime(time.Unix(r.Int63n(1<<33), 0)),
			Reason:             "R" + r.word("aB0_,:", 20) + "r",
			Message:            pick(r, "", r.word("any text\n\"<é>日本\\", 200)),
		})
	}
	return status
}

// Whatever the API server admits comes back as it was sent, field by field, and
// nothing that a valid Foo can hold is refused or pruned.
func TestRandomFoosComeBack(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	foos := s.client.SamplecontrollerV1alpha1().Foos(s.namespace)
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	r := random{rand.New(rand.NewSource(seed))}
	strict := metav1.FieldValidationStrict
	for i := range 200 {
		want := &v1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("foo-%d", i)}, Spec: r.spec(), Status: r.status()}
		created, err := foos.Create(t.Context(), want, metav1.CreateOptions{FieldValidation: strict})
		if err != nil {
			t.Fatalf("%+v: %v", want, err)
		}
		created.Status = want.Status
		if _, err := foos.UpdateStatus(t.Context(), created, metav1.UpdateOptions{FieldValidation: strict}); err != nil {
			t.Fatalf("%+v: %v", want, err)
		}
		got, err := foos.Get(t.Context(), want.Name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if !equality.Semantic.DeepEqual(want.Spec, got.Spec) || !equality.Semantic.DeepEqual(want.Status, got.Status) {
			t.Fatalf("(-sent +returned)\n%s\n%s", cmp.Diff(want.Spec, got.Spec), cmp.Diff(want.Status, got.Status))
		}
	}
}

// The same for Projects, up to the greatest number that Go can hold.
func TestProjectsComeBack(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	projects := s.client.ExamplesV1alpha1().Projects(s.namespace)
	for i, replicas := range []int32{1, 2, 11, 1 << 20, 1<<31 - 1} {
		name := fmt.Sprintf("project-%d", i)
		if _, err := projects.Create(t.Context(), newProject(name, replicas), metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict}); err != nil {
			t.Fatal(err)
		}
		if got, err := projects.Get(t.Context(), name, metav1.GetOptions{}); err != nil || got.Spec.Replicas != replicas {
			t.Errorf("replicas %d (%v), want %d", got.Spec.Replicas, err, replicas)
		}
	}
	for _, replicas := range []int32{0, -1, -1 << 31} {
		_, err := projects.Create(t.Context(), newProject("refused", replicas), metav1.CreateOptions{})
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "spec.replicas") {
			t.Errorf("%d replicas: error %v, want Invalid and spec.replicas", replicas, err)
		}
	}
}

// What Go can express and the schema refuses is refused with the field's name.
func TestRefusedStatus(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	foos := s.client.SamplecontrollerV1alpha1().Foos(s.namespace)
	foo := s.createFoo("foo", spec("deployment", 1))
	good := metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue, LastTransitionTime: metav1.Now(), Reason: "Fine"}
	for field, spoil := range map[string]func(c *metav1.Condition){
		"status.conditions[0].type":               func(c *metav1.Condition) { c.Type = "not a type" },
		"status.conditions[0].status":             func(c *metav1.Condition) { c.Status = "true" },
		"status.conditions[0].reason":             func(c *metav1.Condition) { c.Reason = "" },
		"status.conditions[0].lastTransitionTime": func(c *metav1.Condition) { c.LastTransitionTime = metav1.Time{} },
		"status.conditions[0].observedGeneration": func(c *metav1.Condition) { c.ObservedGeneration = -1 },
		"status.conditions[0].message":            func(c *metav1.Condition) { c.Message = strings.Repeat("m", 32769) },
	} {
		bad := foo.DeepCopy()
		bad.Status.Conditions = []metav1.Condition{good}
		spoil(&bad.Status.Conditions[0])
		if _, err := foos.UpdateStatus(t.Context(), bad, metav1.UpdateOptions{}); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), field) {
			t.Errorf("error %v, want Invalid and %s", err, field)
		}
	}
	twice := foo.DeepCopy()
	twice.Status.Conditions = []metav1.Condition{good, good}
	if _, err := foos.UpdateStatus(t.Context(), twice, metav1.UpdateOptions{}); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "status.conditions[1]: Duplicate") {
		t.Errorf("two conditions of one type: error %v, want Invalid", err)
	}
}
