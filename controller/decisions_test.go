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
		{"without an owner", func(d *appsv1.Deployment) { d.OwnerReferences = nil }, v1alpha1.ReasonNameTaken},
		{"owned by this Foo, but not controlled", func(d *appsv1.Deployment) { d.OwnerReferences[0].Controller = nil }, v1alpha1.ReasonNameTaken},
		{"owned by this Foo, and expressly not controlled", func(d *appsv1.Deployment) { d.OwnerReferences[0].Controller = new(false) }, v1alpha1.ReasonNameTaken},
	} {
		got := ""
		if blocked := checkController(aDeployment(test.change), aFoo()); blocked != nil {
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
			d.Labels, d.Annotations = map[string]string{"theirs": "x"}, map[string]string{"theirs": "y"}
			d.Spec.Paused, d.Spec.Template.Spec.Containers[0].Args = true, []string{"-v"}
		}},
		{reason: "a newer generation, the same fields", foo: func(foo *v1alpha1.Foo) { foo.Generation = 4 }},
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
		if differed := applyDesired(got, foo); (differed != "") != (test.want != nil) {
			t.Errorf("%s: %q differed", test.reason, differed)
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
			if applyDesired(stored.DeepCopy(), foo) != "" {
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
	runs := func(available int32, replicas *int32, observed int64) *appsv1.Deployment {
		return aDeployment(func(d *appsv1.Deployment) {
			d.Spec.Replicas, d.Status.AvailableReplicas, d.Status.ObservedGeneration = replicas, available, observed
		})
	}
	reports := func(d *appsv1.Deployment, conditions ...appsv1.DeploymentCondition) *appsv1.Deployment {
		d.Status.Conditions = conditions
		return d
	}
	quota := appsv1.DeploymentCondition{Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Reason: "FailedCreate", Message: "exceeded quota"}
	stuck := appsv1.DeploymentCondition{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse, Reason: "ProgressDeadlineExceeded", Message: "timed out"}
	moves := appsv1.DeploymentCondition{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "ReplicaSetUpdated"}
	// Two Deployments of earlier names, with 3 and 4 available replicas.
	earlier := []*appsv1.Deployment{runs(3, nil, 1), runs(4, nil, 1)}
	going := aDeployment(func(d *appsv1.Deployment) { d.DeletionTimestamp = &metav1.Time{} })
	gone := aDeployment(func(d *appsv1.Deployment) { d.OwnerReferences[0].UID = "older" })
	taken := aDeployment(func(d *appsv1.Deployment) { d.OwnerReferences[0].UID, d.OwnerReferences[0].Kind = "other", "Bar" })
	free := aDeployment(func(d *appsv1.Deployment) { d.OwnerReferences = nil })
	invalid := validate(aFoo(func(foo *v1alpha1.Foo) { foo.Spec.Replicas = new(int32(-1)) }))
	const cannot = "cannot be created"
	forbidden := Failure{Err: apierrors.NewForbidden(appsv1.Resource("deployments"), "d", errors.New(cannot))}
	refused := Failure{Err: fmt.Errorf("update: %w", apierrors.NewInvalid(schema.GroupKind{Kind: "Deployment"}, "d",
		field.ErrorList{field.Forbidden(field.NewPath("spec"), cannot)}))}
	for _, test := range []struct {
		reason        string
		deployment    *appsv1.Deployment
		owned         []*appsv1.Deployment
		blocked       *report
		failure       Failure
		available     int32
		word, message string
	}{
		{"all there", runs(2, new(int32(2)), 1), nil, nil, Failure{}, 2, "Available", "2 of 2 replicas are available"},
		{"one is missing", runs(1, new(int32(2)), 1), nil, nil, Failure{}, 1, "WaitingForReplicas", "1 of 2 replicas are available"},
		{"one too many", runs(3, new(int32(2)), 1), nil, nil, Failure{}, 3, "Available", "3 of 2 replicas are available"},
		{"none wanted", runs(0, new(int32(0)), 1), nil, nil, Failure{}, 0, "Available", "0 of 0 replicas are available"},
		{"no number: the API's default", runs(1, nil, 1), nil, nil, Failure{}, 1, "Available", "1 of 1 replicas are available"},
		{"numbers of an older spec", runs(2, new(int32(2)), 0), nil, nil, Failure{}, 2, "WaitingForReplicas", "the Deployment controller has not seen the new spec yet"},
		{"renamed: the new one counts", runs(1, new(int32(1)), 1), earlier, nil, Failure{}, 1, "Available", "1 of 1 replicas are available"},
		{"a quota on Pods", reports(runs(1, new(int32(2)), 1), stuck, quota), nil, nil, Failure{}, 1, "ReplicaFailure", "exceeded quota"},
		{"no progress", reports(runs(1, new(int32(2)), 1), stuck), nil, nil, Failure{}, 1, "ProgressDeadlineExceeded", "timed out"},
		{"a new rollout that cannot finish, beside the old replicas", reports(runs(2, new(int32(2)), 1), stuck), nil, nil, Failure{}, 2, "ProgressDeadlineExceeded", "timed out"},
		{"progress", reports(runs(1, new(int32(2)), 1), moves), nil, nil, Failure{}, 1, "WaitingForReplicas", "1 of 2 replicas are available"},
		{"what failed with an older spec", reports(runs(1, new(int32(2)), 0), quota), nil, nil, Failure{}, 1, "WaitingForReplicas", "1 of 2 replicas are available"},
		{"being deleted: its replicas still run", going, []*appsv1.Deployment{going}, checkController(going, aFoo()), Failure{}, 0,
			"WaitingForDeletion", `Deployment "deployment" is being deleted, a new one will follow`},
		{"of an earlier Foo", gone, earlier[:1], checkController(gone, aFoo()), Failure{}, 3,
			"WaitingForDeletion", `Deployment "deployment" is being deleted, a new one will follow`},
		{"taken: earlier ones count", taken, earlier, checkController(taken, aFoo()), Failure{}, 7, "NameTaken",
			`Deployment "deployment" exists and is controlled by Bar "foo": delete it or change spec.deploymentName`},
		{"without a controller", free, nil, checkController(free, aFoo()), Failure{}, 0, "NameTaken",
			`Deployment "deployment" exists and has no controller: delete it or change spec.deploymentName`},
		{"no good", nil, earlier[:1], invalid, Failure{}, 3, "InvalidSpec", "spec.replicas: -1 is less than 0"},
		{"forbidden", nil, earlier[:1], nil, forbidden, 3, "Forbidden", `deployments.apps "d" is forbidden: ` + cannot},
		{"refused as invalid", runs(2, nil, 1), earlier[:1], nil, refused, 2, "Forbidden", `update: Deployment "d" is invalid: spec: Forbidden: ` + cannot},
		{"an error that lasts", runs(2, nil, 1), nil, nil, Failure{Err: errors.New("connection refused"), Lasts: true}, 2, "RequestFailed", "connection refused"},
		{"a write that did not stick", runs(2, nil, 1), nil, nil, Failure{Err: &changedError{"spec.replicas"}, Lasts: true}, 2, "ChangedByWebhook", "spec.replicas"},
	} {
		ready := metav1.ConditionFalse
		if test.word == "Available" {
			ready = metav1.ConditionTrue
		}
		want := v1alpha1.FooStatus{AvailableReplicas: test.available, ObservedGeneration: 3,
			Selector:   "samplecontroller.k8s.io/foo-uid=foo-uid",
			Conditions: []metav1.Condition{{Type: "Ready", Status: ready, ObservedGeneration: 3, Reason: test.word, Message: test.message}}}
		got := calculateStatus(&fooState{foo: aFoo(), deployment: test.deployment, owned: test.owned, blocked: test.blocked}, test.failure)
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(metav1.Condition{}, "LastTransitionTime")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.reason, diff)
		}
	}
}

// A request that failed once says nothing about the Foo: its condition stays as it is. The
// numbers are those observed all the same.
func TestFailureKeepsCondition(t *testing.T) {
	foo := aFoo(func(foo *v1alpha1.Foo) { foo.Status = statusOf(foo, aDeployment()) })
	one := aDeployment(func(d *appsv1.Deployment) { d.Status.AvailableReplicas = 1 })
	want := foo.Status
	want.AvailableReplicas = 1
	for _, err := range []error{
		errors.New("connection refused"),
		apierrors.NewInternalError(errors.New("broken")),
		apierrors.NewTooManyRequestsError("later"),
		apierrors.NewConflict(appsv1.Resource("deployments"), "d", errors.New("modified")),
		apierrors.NewNotFound(corev1.Resource("namespaces"), "default"),
		apierrors.NewUnauthorized("who?"),
	} {
		if diff := cmp.Diff(want, calculateStatus(&fooState{foo: foo, deployment: one}, Failure{Err: err})); diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
}

// A Foo that was ready does not stay so without its replicas. With them, it is not yet ready
// for a spec whose update has failed.
func TestFailureOfReadyFoo(t *testing.T) {
	runs := func(available int32) *appsv1.Deployment {
		return aDeployment(func(d *appsv1.Deployment) { d.Status.AvailableReplicas = available })
	}
	foo := aFoo(func(foo *v1alpha1.Foo) { foo.Status = statusOf(foo, runs(2)) })
	foo.Generation++
	failure := Failure{Err: errors.New("connection refused")}
	if diff := cmp.Diff(foo.Status, calculateStatus(&fooState{foo: foo, deployment: runs(2)}, failure)); diff != "" {
		t.Errorf("all replicas are there (-before +after):\n%s", diff)
	}
	if got := readyReport(calculateStatus(&fooState{foo: foo, deployment: runs(1)}, failure)); got.reason != v1alpha1.ReasonWaitingForReplicas {
		t.Errorf("one replica is missing, and Ready says %q", got)
	}
}

// statusOf is the status of a Foo whose Deployment is as its spec asks.
func statusOf(foo *v1alpha1.Foo, deployment *appsv1.Deployment) v1alpha1.FooStatus {
	return calculateStatus(&fooState{foo: foo, deployment: deployment}, Failure{})
}

// The same facts again make an equal status. Another message keeps the time of the
// transition, another status does not.
func TestStatusKeepsItsTime(t *testing.T) {
	long := metav1.NewTime(time.Now().Add(-time.Hour).Truncate(time.Second))
	foo := aFoo(func(foo *v1alpha1.Foo) {
		foo.Status = statusOf(foo, aDeployment())
		foo.Status.Conditions[0].LastTransitionTime = long
	})
	newer := func(available int32) *appsv1.Deployment {
		return aDeployment(func(d *appsv1.Deployment) { d.ResourceVersion, d.Status.AvailableReplicas = "200", available })
	}
	if diff := cmp.Diff(foo.Status, statusOf(foo, newer(0))); diff != "" {
		t.Errorf("nothing has changed but the Deployment's version (-before +after):\n%s", diff)
	}
	if got := statusOf(foo, newer(1)).Conditions[0]; !got.LastTransitionTime.Equal(&long) || !strings.HasPrefix(got.Message, "1 of 2") {
		t.Errorf("Ready is still False, and became %+v", got)
	}
	if got := statusOf(foo, newer(2)).Conditions[0]; got.LastTransitionTime.Equal(&long) {
		t.Errorf("Ready turned True, and kept its time: %+v", got)
	}
}

// A refusal keeps its first message, however its numbers vary, until its cause or the spec
// is another one.
func TestRefusalKeepsItsMessage(t *testing.T) {
	refused := func(foo *v1alpha1.Foo, operation string, used int) v1alpha1.FooStatus {
		err := apierrors.NewForbidden(appsv1.Resource("deployments"), "d", fmt.Errorf("exceeded quota, used: %d", used))
		return calculateStatus(&fooState{foo: foo}, Failure{Err: fmt.Errorf("%s Deployment: %w", operation, err)})
	}
	foo := aFoo()
	foo.Status = refused(foo, "create", 7)
	if diff := cmp.Diff(foo.Status, refused(foo, "create", 8)); diff != "" {
		t.Errorf("only a number in the answer has changed (-before +after):\n%s", diff)
	}
	if message := refused(foo, "delete", 7).Conditions[0].Message; !strings.HasPrefix(message, "delete") {
		t.Errorf("another request is refused, and the message is %q", message)
	}
	foo.Generation++
	if message := refused(foo, "create", 8).Conditions[0].Message; !strings.HasSuffix(message, "used: 8") {
		t.Errorf("the spec is a newer one, and the message is %q", message)
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
