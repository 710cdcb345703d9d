package foo

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
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/controller"
)

// The decisions are pure functions. Each table has all results of one function.

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
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "deployment", Namespace: "default",
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(aFoo(), fooKind)}}}
	applySpec(deployment, aFoo())
	deployment.UID, deployment.ResourceVersion, deployment.Generation = "deployment-uid", "100", 1
	deployment.Status.ObservedGeneration = 1
	for _, c := range change {
		c(deployment)
	}
	return deployment
}

func TestApplySpec(t *testing.T) {
	for _, test := range []struct {
		reason string
		foo    func(foo *v1alpha1.Foo)
		stored func(d *appsv1.Deployment)
		// want changes the stored Deployment into the one that is sent. nil means that nothing is sent.
		want    func(d *appsv1.Deployment)
		differs []string
	}{
		{reason: "no difference"},
		{reason: "fewer replicas", stored: func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(1)) },
			want: func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(2)) }, differs: []string{"spec.replicas"}},
		{reason: "the Deployment has no replicas", stored: func(d *appsv1.Deployment) { d.Spec.Replicas = nil },
			want: func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(2)) }, differs: []string{"spec.replicas"}},
		{reason: "the Foo has no replicas", foo: func(foo *v1alpha1.Foo) { foo.Spec.Replicas = nil },
			stored: func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(7)) }},
		{reason: "another image", stored: func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "other" },
			want: func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = containerImage }, differs: []string{"spec.template.spec.containers"}},
		{reason: "our container is gone, theirs stays",
			stored: func(d *appsv1.Deployment) {
				d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "theirs", Image: "i"}}
			},
			want: func(d *appsv1.Deployment) {
				d.Spec.Template.Spec.Containers = append(d.Spec.Template.Spec.Containers, corev1.Container{Name: containerName, Image: containerImage})
			}, differs: []string{"spec.template.spec.containers"}},
		{reason: "other owners' fields", stored: func(d *appsv1.Deployment) {
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
		if diff := cmp.Diff(test.differs, differences(got, foo)); diff != "" {
			t.Errorf("%s: fields that differ (-want +got):\n%s", test.reason, diff)
		}
		applySpec(got, foo)
		if still := differences(got, foo); len(still) > 0 {
			t.Errorf("%s: %v still differ", test.reason, still)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.reason, diff)
		}
	}
}

// A Foo without replicas keeps the number of its old Deployment, but not of a terminating one.
func TestNewDeploymentKeepsReplicas(t *testing.T) {
	old := aDeployment(func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(7)) })
	deleted := aDeployment(func(d *appsv1.Deployment) { d.Spec.Replicas, d.DeletionTimestamp = new(int32(9)), new(metav1.Now()) })
	got := newDeployment(aFoo(func(foo *v1alpha1.Foo) { foo.Spec.Replicas = nil }), []*appsv1.Deployment{old, deleted})
	if diff := cmp.Diff(new(int32(7)), got.Spec.Replicas); diff != "" {
		t.Errorf("replicas (-want +got):\n%s", diff)
	}
}

func TestCalculateStatus(t *testing.T) {
	// runs returns a Deployment with these numbers of replicas. updated ones have the newest template.
	runs := func(wanted, all, updated, available int32, change ...func(d *appsv1.Deployment)) *appsv1.Deployment {
		return aDeployment(append(change, func(d *appsv1.Deployment) {
			d.Spec.Replicas = &wanted
			d.Status.Replicas, d.Status.UpdatedReplicas, d.Status.AvailableReplicas = all, updated, available
		})...)
	}
	reports := func(kind appsv1.DeploymentConditionType, status corev1.ConditionStatus, reason, message string) func(d *appsv1.Deployment) {
		return func(d *appsv1.Deployment) {
			d.Status.Conditions = append(d.Status.Conditions, appsv1.DeploymentCondition{Type: kind, Status: status, Reason: reason, Message: message})
		}
	}
	quota := reports(appsv1.DeploymentReplicaFailure, corev1.ConditionTrue, "FailedCreate", "exceeded quota")
	stuck := reports(appsv1.DeploymentProgressing, corev1.ConditionFalse, "ProgressDeadlineExceeded", "timed out")
	noReplicaSet := reports(appsv1.DeploymentProgressing, corev1.ConditionFalse, "ReplicaSetCreateError", "no ReplicaSet")
	moves := reports(appsv1.DeploymentProgressing, corev1.ConditionTrue, "ReplicaSetUpdated", "")
	unobserved := func(d *appsv1.Deployment) { d.Status.ObservedGeneration = 0 }
	paused := func(d *appsv1.Deployment) { d.Spec.Paused = true }
	theirs := func(d *appsv1.Deployment) { d.OwnerReferences = nil }
	ofAnother := func(d *appsv1.Deployment) { d.OwnerReferences[0].UID = "another-uid" }
	ofGone := func(d *appsv1.Deployment) { ofAnother(d); d.OwnerReferences[0].Name = "gone" }
	ofBar := func(d *appsv1.Deployment) { ofGone(d); d.OwnerReferences[0].Kind = "Bar" }
	holder := func(d *appsv1.Deployment) error {
		foos := cache.NewIndexer(cache.MetaNamespaceKeyFunc, nil)
		_ = foos.Add(aFoo())
		return (&Reconciler{FooStore: foos}).checkHolder(d, aFoo())
	}
	forbidden := fmt.Errorf("update: %w", apierrors.NewForbidden(appsv1.Resource("deployments"), "d", errors.New("a quota")))
	invalid := fmt.Errorf("update: %w", apierrors.NewInvalid(schema.GroupKind{Kind: "Deployment"}, "d", nil))
	broken := apierrors.NewInternalError(errors.New("broken"))
	for _, test := range []struct {
		reason        string
		deployment    *appsv1.Deployment
		owned         []*appsv1.Deployment
		err           error
		available     int32
		word, message string
	}{
		{"all there", runs(2, 2, 2, 2), nil, nil, 2, "Available", "2 of 2 replicas are available"},
		{"one is missing", runs(2, 2, 2, 1), nil, nil, 1, "WaitingForReplicas", "1 of 2 replicas are available (2 in all, 2 of the newest template)"},
		{"one too many", runs(2, 3, 2, 2), nil, nil, 2, "WaitingForReplicas", "2 of 2 replicas are available (3 in all, 2 of the newest template)"},
		{"more updated replicas than replicas", runs(2, 2, 3, 2), nil, nil, 2, "WaitingForReplicas", "2 of 2 replicas are available (2 in all, 3 of the newest template)"},
		{"of an earlier template", runs(2, 2, 0, 2), nil, nil, 2, "WaitingForReplicas", "2 of 2 replicas are available (2 in all, 0 of the newest template)"},
		{"paused and complete, after a failure that is over", runs(2, 2, 2, 2, paused, stuck, quota), nil, nil, 2, "Available", "2 of 2 replicas are available"},
		{"numbers of an older spec", runs(2, 2, 2, 2, unobserved), nil, nil, 2, "WaitingForReplicas", "2 of 2 replicas are available (2 in all, 2 of the newest template)"},
		{"a quota on Pods", runs(2, 1, 1, 1, stuck, quota), nil, nil, 1, "ReplicaFailure", "exceeded quota"},
		{"a quota on ReplicaSets", runs(2, 0, 0, 0, unobserved, noReplicaSet), nil, nil, 0, "ReplicaFailure", "no ReplicaSet"},
		{"no progress", runs(2, 1, 1, 1, stuck), nil, nil, 1, "ProgressDeadlineExceeded", "timed out"},
		{"progress", runs(2, 1, 1, 1, moves), nil, nil, 1, "WaitingForReplicas", "1 of 2 replicas are available (1 in all, 1 of the newest template)"},
		{"not the Foo's", runs(2, 2, 2, 2, theirs), nil, holder(runs(2, 2, 2, 2, theirs)), 0, "NameTaken", `Deployment "deployment" exists and has no controller: delete it or change spec.deploymentName`},
		{"an invalid spec", nil, nil, validate(aFoo(func(foo *v1alpha1.Foo) { foo.Spec.Replicas = new(int32(-1)) })), 0, "InvalidSpec", "spec.replicas: -1 is less than 0"},
		{"forbidden: the old Deployment's replicas count", nil, []*appsv1.Deployment{runs(3, 3, 3, 3)}, forbidden, 3, "Forbidden", forbidden.Error()},
		{"rejected as invalid, and the replicas are reported", runs(2, 2, 2, 2), nil, invalid, 2, "Forbidden", invalid.Error()},
		{"an error", runs(2, 2, 2, 2), nil, broken, 2, "RequestFailed", broken.Error()},
		{"reverted", runs(2, 2, 2, 2), nil, controller.ErrReverted, 2, "ChangedByOthers", controller.ErrReverted.Error()},
		{"two rejections", runs(2, 2, 2, 2), nil, errors.Join(forbidden, invalid), 2, "Forbidden", forbidden.Error() + "\n" + invalid.Error()},
		{"an earlier Foo's with the same name", runs(2, 2, 2, 2, ofAnother), nil, holder(runs(2, 2, 2, 2, ofAnother)), 0, "WaitingForDeletion", `Deployment "deployment" belongs to a deleted Foo: a new one is created when the name is free`},
		{"a deleted Foo's", runs(2, 2, 2, 2, ofGone), nil, holder(runs(2, 2, 2, 2, ofGone)), 0, "WaitingForDeletion", `Deployment "deployment" belongs to a deleted Foo: a new one is created when the name is free`},
		{"another kind's", runs(2, 2, 2, 2, ofBar), nil, holder(runs(2, 2, 2, 2, ofBar)), 0, "NameTaken", `Deployment "deployment" exists and is controlled by Bar "gone": delete it or change spec.deploymentName`},
	} {
		ready := metav1.ConditionFalse
		if test.word == "Available" {
			ready = metav1.ConditionTrue
		}
		want := v1alpha1.FooStatus{AvailableReplicas: test.available, ObservedGeneration: 3,
			Selector:   "samplecontroller.k8s.io/foo-uid=foo-uid",
			Conditions: []metav1.Condition{{Type: "Ready", Status: ready, ObservedGeneration: 3, Reason: test.word, Message: test.message}}}
		got := calculateStatus(aFoo(), test.deployment, test.owned, test.err)
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(metav1.Condition{}, "LastTransitionTime"), cmpopts.IgnoreFields(v1alpha1.FooStatus{}, "Replicas")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.reason, diff)
		}
	}
}

// If a rejection differs only in identifiers and numbers, the status does not change.
func TestRefusalIsStable(t *testing.T) {
	refused := func(text string) error {
		return apierrors.NewForbidden(appsv1.Resource("deployments"), "d", errors.New(text))
	}
	foo := aFoo(func(foo *v1alpha1.Foo) {
		foo.Status = calculateStatus(foo, nil, nil, refused("webhook a denied the request: id 4711, used: 3"))
	})
	if diff := cmp.Diff(foo.Status, calculateStatus(foo, nil, nil, refused("webhook a denied the request: id c0ffee, used: 5"))); diff != "" {
		t.Errorf("another identifier and number (-before +after):\n%s", diff)
	}
	if got := readyOf(calculateStatus(foo, nil, nil, refused("webhook b denied the request: id 4711, used: 3"))); !strings.Contains(got.Message, "webhook b") {
		t.Errorf("another webhook: %+v", got)
	}
	foo.Generation++
	if got := readyOf(calculateStatus(foo, nil, nil, refused("webhook a denied the request: id 4711, used: 4"))); !strings.Contains(got.Message, "used: 4") {
		t.Errorf("the message of an earlier spec: %+v", got)
	}
}

// Without a change, the status is equal. A new message does not change the condition's transition time; a
// new condition status does.
func TestStatusKeepsItsTime(t *testing.T) {
	long := metav1.NewTime(time.Now().Add(-time.Hour).Truncate(time.Second))
	foo := aFoo(func(foo *v1alpha1.Foo) {
		foo.Status = calculateStatus(foo, aDeployment(), nil, nil)
		foo.Status.Conditions[0].LastTransitionTime = long
	})
	newer := func(available int32) *appsv1.Deployment {
		return aDeployment(func(d *appsv1.Deployment) {
			d.ResourceVersion = "200"
			d.Status.Replicas, d.Status.UpdatedReplicas, d.Status.AvailableReplicas = available, available, available
		})
	}
	if diff := cmp.Diff(foo.Status, calculateStatus(foo, newer(0), nil, nil)); diff != "" {
		t.Errorf("only the Deployment's resourceVersion has changed (-before +after):\n%s", diff)
	}
	if got := readyOf(calculateStatus(foo, newer(1), nil, nil)); !got.LastTransitionTime.Equal(&long) || !strings.HasPrefix(got.Message, "1 of 2") {
		t.Errorf("Ready is still False, and became %+v", got)
	}
	if got := readyOf(calculateStatus(foo, newer(2), nil, nil)); got.LastTransitionTime.Equal(&long) {
		t.Errorf("Ready turned True, and kept its time: %+v", got)
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
