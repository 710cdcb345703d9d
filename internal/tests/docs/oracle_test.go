package testkit_test

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/internal/tests/oracle"
)

// state is a Foo and its Deployment, which a test changes, and other Deployments.
type state struct {
	foo    v1alpha1.Foo
	d      appsv1.Deployment
	others []appsv1.Deployment
}

func controlledBy(kind string, uid types.UID) []metav1.OwnerReference {
	return []metav1.OwnerReference{{APIVersion: "samplecontroller.k8s.io/v1alpha1", Kind: kind, Name: "foo", UID: uid, Controller: new(true), BlockOwnerDeletion: new(true)}}
}

// deployment returns a Deployment that is rolled out.
func deployment(name string, uid types.UID, replicas int32) appsv1.Deployment {
	labels := map[string]string{"samplecontroller.k8s.io/foo-uid": string(uid)}
	return appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: "7", OwnerReferences: controlledBy("Foo", uid)},
		Spec: appsv1.DeploymentSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "nginx", Image: "nginx:1.29"}}},
		}},
		Status: appsv1.DeploymentStatus{Replicas: replicas, UpdatedReplicas: replicas, AvailableReplicas: replicas},
	}
}

// newState returns a state without faults.
func newState() *state {
	return &state{d: deployment("d", "1", 2), foo: v1alpha1.Foo{
		ObjectMeta: metav1.ObjectMeta{Name: "foo", UID: "1", Generation: 3, ResourceVersion: "8"},
		Spec:       v1alpha1.FooSpec{DeploymentName: "d", Replicas: new(int32(2))},
		Status: v1alpha1.FooStatus{Replicas: 2, AvailableReplicas: 2, ObservedGeneration: 3, Selector: "samplecontroller.k8s.io/foo-uid=1", Conditions: []metav1.Condition{
			{Type: v1alpha1.FooReady, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonAvailable, ObservedGeneration: 3},
		}},
	}}
}

// says gives the condition of the Foo a reason why it is not ready.
func (s *state) says(reason, message string) {
	c := &s.foo.Status.Conditions[0]
	c.Status, c.Reason, c.Message = metav1.ConditionFalse, reason, message
}

// taken removes the Deployment's owner. The Foo has an earlier Deployment, with one replica.
func (s *state) taken() {
	s.d.OwnerReferences = nil
	s.others = append(s.others, deployment("earlier", "1", 1))
	s.foo.Status.Replicas, s.foo.Status.AvailableReplicas = 1, 1
	s.says(v1alpha1.ReasonNameTaken, `Deployment "d" has no controller`)
}

func (s *state) invalid() {
	s.foo.Spec.Replicas = new(int32(-1))
	s.says(v1alpha1.ReasonInvalidSpec, "")
}

func (s *state) faults(check func([]v1alpha1.Foo, []appsv1.Deployment) oracle.Faults) oracle.Faults {
	return check([]v1alpha1.Foo{s.foo}, append([]appsv1.Deployment{s.d}, s.others...))
}

const asks = "Foo foo (generation 3) asks for Deployment d. "

// Faults of any controller. They are faults of this repository's controller, too.
func TestAny(t *testing.T) {
	for _, test := range []struct {
		reason string
		change func(s *state)
		kind   oracle.Kind
		want   string
	}{
		{"as asked", func(s *state) {}, 0, ""},
		{"no number is asked for", func(s *state) { s.foo.Spec.Replicas = nil }, 0, ""},
		{"the Foo stays", func(s *state) { s.foo.DeletionTimestamp = new(metav1.Now()) }, oracle.Orphaned, asks + "The Foo was deleted and is still there."},
		{"none", func(s *state) { s.d.Name = "other"; s.d.OwnerReferences = nil }, oracle.Absent, asks + "There is none."},
		{"on its way out", func(s *state) { s.d.DeletionTimestamp = new(metav1.Now()) }, oracle.Deleting, asks + "That one is being deleted.\nDeployment d is being deleted."},
		{"another number", func(s *state) { s.foo.Spec.Replicas = new(int32(3)) }, oracle.WrongSpec, asks + "It asks for 3 replicas, the Deployment (revision 7) for 2."},
		{"no number, which is one", func(s *state) { s.d.Spec.Replicas = nil }, oracle.WrongSpec, asks + "It asks for 2 replicas, the Deployment (revision 7) for 1."},
		{"two", func(s *state) { s.others = append(s.others, deployment("earlier", "1", 1)) }, oracle.LeftOver, asks + "It still controls Deployment earlier, which it named before (revision 7)."},
		{"a Pod is missing", func(s *state) { s.d.Status.AvailableReplicas = 1 }, oracle.RollingOut, asks + "1 of 2 replicas are available."},
		{"its numbers are old", func(s *state) { s.d.Generation = 1 }, oracle.RollingOut, asks + "2 of 2 replicas are available."},
		{"a wrong status", func(s *state) { s.foo.Status.AvailableReplicas = 1 }, oracle.WrongStatus, asks + "It has 2 available replicas (revision 7); the status (revision 8) says 1."},
		{"the name is taken", (*state).taken, 0, ""},
		{"the name is taken, and its replicas in the status", func(s *state) { s.taken(); s.foo.Status.AvailableReplicas = 2 }, oracle.WrongStatus,
			asks + "That is another's, and its own have 1 available replicas; the status says 2."},
		{"what cannot be", func(s *state) { s.invalid() }, 0, ""},
		{"no name", func(s *state) { s.invalid(); s.foo.Spec.DeploymentName = "A B" }, 0, ""},
		{"the Foo is gone", func(s *state) { s.others = append(s.others, deployment("x", "2", 1)) }, oracle.Orphaned,
			"The Foo that controls Deployment x is gone, and the Deployment (revision 7) is still there."},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s := newState()
			test.change(s)
			got := s.faults(oracle.Any)
			if text := text(got); text != test.want || len(got) > 0 && got[0].Kind != test.kind {
				t.Errorf("faults %v, want %d %q", got, test.kind, test.want)
			}
			if ours := text(s.faults(oracle.Ours)); ours != test.want {
				t.Errorf("this controller's faults: %q, want %q", ours, test.want)
			}
		})
	}
}

// Faults of this repository's controller only.
func TestOurs(t *testing.T) {
	for _, test := range []struct {
		reason string
		change func(s *state)
		want   string // the beginning
	}{
		{"an old status", func(s *state) { s.foo.Status.ObservedGeneration = 2 }, "The status is of generation 2."},
		{"not ready", func(s *state) { s.foo.Status.Conditions[0].Status = metav1.ConditionFalse }, "Its condition Ready must be True for Available of this generation, and is "},
		{"an old condition", func(s *state) { s.foo.Status.Conditions[0].ObservedGeneration = 2 }, "Its condition Ready must be True for Available of this generation, and is "},
		{"no condition", func(s *state) { s.foo.Status.Conditions = nil }, "Its condition Ready must be True for Available of this generation, and is nil."},
		{"taken, and not said", func(s *state) { s.taken(); s.says(v1alpha1.ReasonAvailable, "") }, "Its condition Ready must be False for NameTaken of this generation, and is "},
		{"another's selector", func(s *state) { s.foo.Status.Selector = "a=b" }, `The status says that the selector is "a=b", it is "samplecontroller.k8s.io/foo-uid=1".`},
		{"a number too many", func(s *state) { s.foo.Status.Replicas = 5 }, "It has 2 replicas, 2 are available; the status says 5 and 2."},
		{"the kept Deployment is not counted", func(s *state) { s.taken(); s.foo.Status.AvailableReplicas = 0 }, "It has 1 replicas, 1 are available; the status says 1 and 0."},
		{"a different controller's Deployment", func(s *state) { s.taken(); s.d.OwnerReferences = controlledBy("Other", "2") }, `That is controlled by Other "foo", and condition Ready says "Deployment \"d\" has no controller".`},
		{"a replica of an earlier template", func(s *state) { s.d.Status.UpdatedReplicas = 1 }, "Its condition Ready must be False for WaitingForReplicas"},
		{"another container", func(s *state) { s.d.Spec.Template.Spec.Containers[0].Name = "x" }, "It lacks the container nginx=nginx:1.29: [x=nginx:1.29]"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s := newState()
			test.change(s)
			got := s.faults(oracle.Ours)
			if len(got) != 1 || got[0].Kind != oracle.Unkept || !strings.HasPrefix(got[0].Text, asks+test.want) {
				t.Errorf("faults %v, want %q", got, test.want)
			}
			if any := s.faults(oracle.Any); len(any) != 0 {
				t.Errorf("any controller's faults: %v, want none", any)
			}
		})
	}
}

func text(faults oracle.Faults) string {
	if err := faults.Err(); err != nil {
		return err.Error()
	}
	return ""
}
