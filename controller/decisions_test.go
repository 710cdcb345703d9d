package controller

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

// The decisions are pure functions. Each table shows all that a function can say.

func aFoo(change ...func(foo *v1alpha1.Foo)) *v1alpha1.Foo {
	foo := &v1alpha1.Foo{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "foo", UID: "foo-uid", Generation: 3},
		Spec:       v1alpha1.FooSpec{DeploymentName: "deployment", Replicas: new(int32(2))},
	}
	for _, c := range change {
		c(foo)
	}
	return foo
}

func aDeployment(change ...func(deployment *appsv1.Deployment)) *appsv1.Deployment {
	deployment := newDeployment(aFoo())
	deployment.UID, deployment.ResourceVersion, deployment.Generation = "deployment-uid", "100", 1
	deployment.Status.ObservedGeneration = 1
	for _, c := range change {
		c(deployment)
	}
	return deployment
}

func TestCheckController(t *testing.T) {
	now := metav1.Now()
	controlledBy := func(apiVersion, kind, name string, uid types.UID) func(*appsv1.Deployment) {
		return func(d *appsv1.Deployment) {
			d.OwnerReferences = []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: name, UID: uid, Controller: new(true)}}
		}
	}
	for _, test := range []struct {
		reason string
		change func(d *appsv1.Deployment)
		want   string
	}{
		{"made for this Foo", func(*appsv1.Deployment) {}, ""},
		{"made for it by another version of the API", controlledBy("samplecontroller.k8s.io/v1", "Foo", "foo", "foo-uid"), ""},
		{"ours, on its way out", func(d *appsv1.Deployment) { d.DeletionTimestamp = &now }, v1alpha1.ReasonWaitingForDeletion},
		{"of an earlier Foo of this name", controlledBy("samplecontroller.k8s.io/v1alpha1", "Foo", "foo", "older-uid"), v1alpha1.ReasonWaitingForDeletion},
		{"of an earlier Foo of this name, in another version of the API", controlledBy("samplecontroller.k8s.io/v2", "Foo", "foo", "older-uid"), v1alpha1.ReasonWaitingForDeletion},
		{"of another Foo", controlledBy("samplecontroller.k8s.io/v1alpha1", "Foo", "other", "other-uid"), v1alpha1.ReasonNameTaken},
		{"of a Foo of another group", controlledBy("example.com/v1alpha1", "Foo", "foo", "other-uid"), v1alpha1.ReasonNameTaken},
		{"of a group that cannot be read", controlledBy("a/b/c", "Foo", "foo", "other-uid"), v1alpha1.ReasonNameTaken},
		{"of another kind", controlledBy("samplecontroller.k8s.io/v1alpha1", "Bar", "foo", "other-uid"), v1alpha1.ReasonNameTaken},
		{"nobody's", func(d *appsv1.Deployment) { d.OwnerReferences = nil }, v1alpha1.ReasonNameTaken},
		{"owned by this Foo, but not controlled", func(d *appsv1.Deployment) { d.OwnerReferences[0].Controller = nil }, v1alpha1.ReasonNameTaken},
		{"owned by this Foo, and expressly not controlled", func(d *appsv1.Deployment) { d.OwnerReferences[0].Controller = new(false) }, v1alpha1.ReasonNameTaken},
	} {
		var blocked *blockedError
		got := ""
		if errors.As(checkController(aDeployment(test.change), aFoo()), &blocked) {
			got = blocked.reason
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.reason, got, test.want)
		}
	}
}

func TestApplyDesired(t *testing.T) {
	for _, test := range []struct {
		reason string
		foo    func(foo *v1alpha1.Foo)
		stored func(d *appsv1.Deployment)
		// want makes of the stored Deployment the one to send; nil: nothing differs.
		want func(d *appsv1.Deployment)
	}{
		{reason: "all as it should be"},
		{reason: "fewer replicas", stored: func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(1)) },
			want: func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(2)) }},
		{reason: "no number", stored: func(d *appsv1.Deployment) { d.Spec.Replicas = nil },
			want: func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(2)) }},
		{reason: "any number will do", foo: func(foo *v1alpha1.Foo) { foo.Spec.Replicas = nil },
			stored: func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(7)) }},
		{reason: "another image", stored: func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "other" },
			want: func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = containerImage }},
		{reason: "our container is gone, theirs stays",
			stored: func(d *appsv1.Deployment) {
				d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "theirs", Image: "i"}}
			},
			want: func(d *appsv1.Deployment) {
				d.Spec.Template.Spec.Containers = append(d.Spec.Template.Spec.Containers, corev1.Container{Name: containerName, Image: containerImage})
			}},
		{reason: "our label is gone", stored: func(d *appsv1.Deployment) { d.Spec.Template.Labels = map[string]string{"theirs": "x"} },
			want: func(d *appsv1.Deployment) { d.Spec.Template.Labels[uidLabel] = "foo-uid" }},
		{reason: "what is not ours", stored: func(d *appsv1.Deployment) {
			d.Labels, d.Annotations["theirs"] = map[string]string{"theirs": "x"}, "y"
			d.Spec.Paused, d.Spec.Template.Spec.Containers[0].Args = true, []string{"-v"}
		}},
		{reason: "a newer generation, the same fields", foo: func(foo *v1alpha1.Foo) { foo.Generation = 4 }},
		{reason: "no mark of a generation", stored: func(d *appsv1.Deployment) { d.Annotations = nil }},
	} {
		foo, stored := aFoo(), aDeployment()
		if test.foo != nil {
			test.foo(foo)
		}
		if test.stored != nil {
			test.stored(stored)
		}
		want, got := stored.DeepCopy(), stored.DeepCopy()
		if test.want != nil {
			test.want(want)
		}
		if differed := applyDesired(got, foo); differed != (test.want != nil) {
			t.Errorf("%s: differed is %t", test.reason, differed)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.reason, diff)
		}
	}
}

// What looking at a Deployment costs that is as it should be, and what it would cost
// to compare it as a whole.
func BenchmarkApplyDesired(b *testing.B) {
	foo, stored := aFoo(), aDeployment()
	b.Run("fields", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if applyDesired(stored.DeepCopy(), foo) {
				b.Fatal("the Deployment is not as it should be")
			}
		}
	})
	b.Run("reflection", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			wanted := stored.DeepCopy()
			applyDesired(wanted, foo)
			if !equality.Semantic.DeepEqual(stored, wanted) {
				b.Fatal("the Deployment is not as it should be")
			}
		}
	})
}

func TestCalculateStatus(t *testing.T) {
	const yes, no = metav1.ConditionTrue, metav1.ConditionFalse
	runs := func(available int32, replicas *int32, observed int64) *appsv1.Deployment {
		return aDeployment(func(d *appsv1.Deployment) {
			d.Spec.Replicas, d.Status.AvailableReplicas, d.Status.ObservedGeneration = replicas, available, observed
		})
	}
	// Two Deployments of earlier names, with 3 and 4 available replicas.
	earlier := []*appsv1.Deployment{runs(3, nil, 1), runs(4, nil, 1)}
	going := func(d *appsv1.Deployment) { d.DeletionTimestamp = &metav1.Time{} }
	taken := func(d *appsv1.Deployment) { d.OwnerReferences[0].UID, d.OwnerReferences[0].Kind = "other", "Bar" }
	nobodys := func(d *appsv1.Deployment) { d.OwnerReferences = nil }
	invalid := aFoo(func(foo *v1alpha1.Foo) { foo.Spec.Replicas = new(int32(-1)) })
	const cannot = "cannot be created"
	for _, test := range []struct {
		reason             string
		deployment         *appsv1.Deployment
		owned              []*appsv1.Deployment
		err                error
		available          int32
		ready, progressing metav1.ConditionStatus
		word, message      string
		version            string
	}{
		{"all there", runs(2, new(int32(2)), 1), nil, nil, 2, yes, no, "Available", "2 of 2 replicas are available", "100"},
		{"one is missing", runs(1, new(int32(2)), 1), nil, nil, 1, no, yes, "WaitingForReplicas", "1 of 2 replicas are available", "100"},
		{"one too many", runs(3, new(int32(2)), 1), nil, nil, 3, yes, no, "Available", "3 of 2 replicas are available", "100"},
		{"none wanted", runs(0, new(int32(0)), 1), nil, nil, 0, yes, no, "Available", "0 of 0 replicas are available", "100"},
		{"no number: the API's default", runs(1, nil, 1), nil, nil, 1, yes, no, "Available", "1 of 1 replicas are available", "100"},
		{"numbers of an older spec", runs(2, new(int32(2)), 0), nil, nil, 2, no, yes, "WaitingForReplicas", "the Deployment controller has not seen the new spec yet", "100"},
		{"renamed: the new one counts", runs(1, new(int32(1)), 1), earlier, nil, 1, yes, no, "Available", "1 of 1 replicas are available", "100"},
		{"an old one is going", aDeployment(), earlier[:1], checkController(aDeployment(going), aFoo()), 3, no, yes,
			"WaitingForDeletion", `Deployment "deployment" is being deleted, a new one will follow`, "100"},
		{"taken: earlier ones count", aDeployment(taken), earlier, checkController(aDeployment(taken), aFoo()), 7, no, no, "NameTaken",
			`Deployment "deployment" exists and is controlled by Bar "foo": delete it or change spec.deploymentName`, "100"},
		{"taken by nobody", aDeployment(nobodys), nil, checkController(aDeployment(nobodys), aFoo()), 0, no, no, "NameTaken",
			`Deployment "deployment" exists and has no controller: delete it or change spec.deploymentName`, "100"},
		{"no good", nil, earlier[:1], validate(invalid), 3, no, no, "InvalidSpec", "spec.replicas: -1 is less than 0", ""},
		{"forbidden", nil, earlier[:1], apierrors.NewForbidden(appsv1.Resource("deployments"), "d", errors.New(cannot)), 3, no, no,
			"Forbidden", `deployments.apps "d" is forbidden: ` + cannot, ""},
		{"refused as invalid", aDeployment(), earlier[:1], fmt.Errorf("update: %w", apierrors.NewInvalid(schema.GroupKind{Kind: "Deployment"}, "d",
			field.ErrorList{field.Forbidden(field.NewPath("spec"), cannot)})), 3, no, no, "Forbidden", `update: Deployment "d" is invalid: spec: Forbidden: ` + cannot, "100"},
	} {
		want := v1alpha1.FooStatus{AvailableReplicas: test.available, ObservedGeneration: 3, ObservedDeploymentVersion: test.version,
			Selector: "samplecontroller.k8s.io/foo-uid=foo-uid",
			Conditions: []metav1.Condition{
				{Type: "Ready", Status: test.ready, ObservedGeneration: 3, Reason: test.word, Message: test.message},
				{Type: "Progressing", Status: test.progressing, ObservedGeneration: 3, Reason: test.word, Message: test.message},
			}}
		got := calculateStatus(&fooState{foo: aFoo(), deployment: test.deployment, owned: test.owned}, test.err)
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(metav1.Condition{}, "LastTransitionTime")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.reason, diff)
		}
	}
}

// A request that failed says nothing about the Foo: its status stays as it is.
func TestFailureKeepsStatus(t *testing.T) {
	foo := aFoo(func(foo *v1alpha1.Foo) { foo.Status = statusOf(foo, aDeployment()) })
	for _, err := range []error{
		errors.New("connection refused"),
		apierrors.NewInternalError(errors.New("broken")),
		apierrors.NewTooManyRequestsError("later"),
		apierrors.NewConflict(appsv1.Resource("deployments"), "d", errors.New("modified")),
		apierrors.NewNotFound(corev1.Resource("namespaces"), "default"),
		apierrors.NewUnauthorized("who?"),
	} {
		if diff := cmp.Diff(foo.Status, calculateStatus(&fooState{foo: foo}, err)); diff != "" {
			t.Errorf("%v (-before +after):\n%s", err, diff)
		}
	}
}

// statusOf is the status of a Foo whose Deployment is as its spec asks.
func statusOf(foo *v1alpha1.Foo, deployment *appsv1.Deployment) v1alpha1.FooStatus {
	return calculateStatus(&fooState{foo: foo, deployment: deployment}, nil)
}

// The same facts again make an equal status. Another message keeps the time of the
// transition, another status does not.
func TestStatusKeepsItsTime(t *testing.T) {
	long := metav1.NewTime(time.Now().Add(-time.Hour).Truncate(time.Second))
	foo := aFoo(func(foo *v1alpha1.Foo) {
		foo.Status = statusOf(foo, aDeployment())
		for i := range foo.Status.Conditions {
			foo.Status.Conditions[i].LastTransitionTime = long
		}
	})
	newer := func(available int32) *appsv1.Deployment {
		return aDeployment(func(d *appsv1.Deployment) { d.ResourceVersion, d.Status.AvailableReplicas = "200", available })
	}
	if diff := cmp.Diff(foo.Status, statusOf(foo, newer(0))); diff != "" {
		t.Errorf("nothing has changed but the Deployment's version (-before +after):\n%s", diff)
	}
	one := statusOf(foo, newer(1))
	if got := one.Conditions[0]; !got.LastTransitionTime.Equal(&long) || !strings.HasPrefix(got.Message, "1 of 2") {
		t.Errorf("Ready is still False, and became %+v", got)
	}
	if one.ObservedDeploymentVersion != "200" {
		t.Errorf("the status is made from version %s, want 200", one.ObservedDeploymentVersion)
	}
	if got := statusOf(foo, newer(2)).Conditions[0]; got.LastTransitionTime.Equal(&long) {
		t.Errorf("Ready turned True, and kept its time: %+v", got)
	}
	used := func(n int) error {
		return apierrors.NewForbidden(appsv1.Resource("deployments"), "d", fmt.Errorf("exceeded quota, used: %d", n))
	}
	foo.Status = calculateStatus(&fooState{foo: foo}, used(7))
	if diff := cmp.Diff(foo.Status, calculateStatus(&fooState{foo: foo}, used(8))); diff != "" {
		t.Errorf("only a number in the answer has changed (-before +after):\n%s", diff)
	}
}

func TestValidate(t *testing.T) {
	for _, test := range []struct {
		name     string
		replicas *int32
		want     string
	}{
		{"deployment", new(int32(1)), ""},
		{"a.b-c.d", nil, ""},
		{strings.Repeat("n", 253), new(int32(0)), ""},
		{"d", new(int32(1<<31 - 1)), ""},
		{strings.Repeat("n", 254), nil, "spec.deploymentName"},
		{"", nil, "spec.deploymentName"},
		{"../x", nil, "spec.deploymentName"},
		{"Deployment", nil, "spec.deploymentName"},
		{"d", new(int32(-1)), "spec.replicas: -1"},
	} {
		got := validate(aFoo(func(foo *v1alpha1.Foo) {
			foo.Spec = v1alpha1.FooSpec{DeploymentName: test.name, Replicas: test.replicas}
		}))
		if (got == nil) != (test.want == "") || !strings.Contains(fmt.Sprint(got), test.want) {
			t.Errorf("%q: %v, want %q", test.name, got, test.want)
		}
	}
}

func TestMarks(t *testing.T) {
	for mark, want := range map[string]bool{"": false, "2": false, "3": false, "4": true, "-1": false, "four": false, "99999999999999999999": false} {
		deployment := aDeployment(func(d *appsv1.Deployment) { d.Annotations[generationAnnotation] = mark })
		if got := isFromNewer(deployment, aFoo()); got != want {
			t.Errorf("generation %q against 3: newer %t, want %t", mark, got, want)
		}
	}
	for version, want := range map[string]bool{"": false, "99": false, "100": false, "101": true, "1000": true, "x": false} {
		foo := aFoo(func(foo *v1alpha1.Foo) { foo.Status.ObservedDeploymentVersion = version })
		if got := observedNewer(foo, aDeployment()); got != want {
			t.Errorf("version %q against 100: newer %t, want %t", version, got, want)
		}
	}
}
