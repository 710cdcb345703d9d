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
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/controller"
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
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "deployment", Namespace: "default"}}
	applyDesired(deployment, &fooState{foo: aFoo()})
	deployment.UID, deployment.ResourceVersion, deployment.Generation = "deployment-uid", "100", 1
	deployment.Status.ObservedGeneration = 1
	for _, c := range change {
		c(deployment)
	}
	return deployment
}

// checkController asks a reconciler whose cache has one more Foo.
func checkController(deployment *appsv1.Deployment) *cause {
	other := aFoo(func(foo *v1alpha1.Foo) { foo.Name, foo.UID = "other", "other-uid" })
	r := Reconciler{FooStore: cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})}
	for _, foo := range []*v1alpha1.Foo{aFoo(), other} {
		_ = r.FooStore.Add(foo)
	}
	return r.checkController(deployment, aFoo())
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
		{"of an earlier Foo, in a version that the garbage collector may not know", controlledBy("samplecontroller.k8s.io/v2", "Foo", "foo", "older-uid"), v1alpha1.ReasonNameTaken},
		{"of another Foo", controlledBy("samplecontroller.k8s.io/v1alpha1", "Foo", "other", "other-uid"), v1alpha1.ReasonNameTaken},
		{"of another Foo that is gone", controlledBy("samplecontroller.k8s.io/v1alpha1", "Foo", "other", "older-uid"), v1alpha1.ReasonWaitingForDeletion},
		{"of a Foo of another group", controlledBy("example.com/v1alpha1", "Foo", "foo", "other-uid"), v1alpha1.ReasonNameTaken},
		{"of a group that cannot be read", controlledBy("a/b/c", "Foo", "foo", "other-uid"), v1alpha1.ReasonNameTaken},
		{"of another kind", controlledBy("samplecontroller.k8s.io/v1alpha1", "Bar", "foo", "other-uid"), v1alpha1.ReasonNameTaken},
		{"without an owner", func(d *appsv1.Deployment) { d.OwnerReferences = nil }, v1alpha1.ReasonNameTaken},
		{"owned by this Foo, but not controlled", func(d *appsv1.Deployment) { d.OwnerReferences[0].Controller = nil }, v1alpha1.ReasonNameTaken},
		{"owned by this Foo, and expressly not controlled", func(d *appsv1.Deployment) { d.OwnerReferences[0].Controller = new(false) }, v1alpha1.ReasonNameTaken},
	} {
		got := ""
		if blocked := checkController(aDeployment(test.change)); blocked != nil {
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
		{reason: "an owner reference that blocks nothing", stored: func(d *appsv1.Deployment) { d.OwnerReferences[0].BlockOwnerDeletion = nil },
			want: func(d *appsv1.Deployment) { d.OwnerReferences[0].BlockOwnerDeletion = new(true) }},
		{reason: "another selector, which cannot be changed: the API server says so", stored: func(d *appsv1.Deployment) { d.Spec.Selector.MatchLabels["more"] = "x" },
			want: func(d *appsv1.Deployment) { delete(d.Spec.Selector.MatchLabels, "more") }},
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
		if field := differs(got, &fooState{foo: foo}); (field != "") != (test.want != nil) {
			t.Errorf("%s: %q differs", test.reason, field)
		}
		applyDesired(got, &fooState{foo: foo})
		if field := differs(got, &fooState{foo: foo}); field != "" {
			t.Errorf("%s: %q still differs", test.reason, field)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.reason, diff)
		}
	}
}

func TestCalculateStatus(t *testing.T) {
	// runs is a Deployment with so many replicas: wanted, all, of the newest template, available.
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
	evil := func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "evil:1" }
	// Two Deployments of earlier names, with 3 and 4 available replicas.
	earlier := []*appsv1.Deployment{runs(3, 3, 3, 3), runs(4, 4, 4, 4)}
	going := aDeployment(func(d *appsv1.Deployment) { d.DeletionTimestamp = &metav1.Time{} })
	gone := aDeployment(func(d *appsv1.Deployment) { d.OwnerReferences[0].UID = "older" })
	taken := aDeployment(func(d *appsv1.Deployment) { d.OwnerReferences[0].UID, d.OwnerReferences[0].Kind = "other", "Bar" })
	free := aDeployment(func(d *appsv1.Deployment) { d.OwnerReferences = nil })
	invalid := validate(aFoo(func(foo *v1alpha1.Foo) { foo.Spec.Replicas = new(int32(-1)) }))
	const cannot = "cannot be created"
	failed := func(err error, lasts bool) []controller.Failure {
		return []controller.Failure{{Write: "a write", Err: err, Lasts: lasts}}
	}
	forbidden := apierrors.NewForbidden(appsv1.Resource("deployments"), "d", errors.New(cannot))
	refused := fmt.Errorf("update: %w", apierrors.NewInvalid(schema.GroupKind{Kind: "Deployment"}, "d",
		field.ErrorList{field.Forbidden(field.NewPath("spec"), cannot)}))
	terminating := apierrors.NewForbidden(appsv1.Resource("deployments"), "d", errors.New("the namespace is being terminated"))
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	once := apierrors.NewInternalError(errors.New("broken"))
	for _, test := range []struct {
		reason        string
		deployment    *appsv1.Deployment
		owned         []*appsv1.Deployment
		blocked       *cause
		failures      []controller.Failure
		available     int32
		word, message string
	}{
		{"all there", runs(2, 2, 2, 2), nil, nil, nil, 2, "Available", "2 of 2 replicas are available"},
		{"one is missing", runs(2, 2, 2, 1), nil, nil, nil, 1, "WaitingForReplicas", "1 of 2 replicas are available"},
		{"one too many", runs(2, 3, 2, 2), nil, nil, nil, 2, "WaitingForReplicas", "3 replicas are still there, 2 are wanted"},
		{"one too many, by another count", runs(2, 2, 3, 2), nil, nil, nil, 2, "WaitingForReplicas", "3 replicas are still there, 2 are wanted"},
		{"one too many is available", runs(2, 2, 2, 3), nil, nil, nil, 3, "WaitingForReplicas", "3 replicas are still there, 2 are wanted"},
		{"of an earlier template", runs(2, 2, 0, 2), nil, nil, nil, 2, "WaitingForReplicas", "0 of 2 replicas are of the newest template"},
		{"of an earlier template, and paused", runs(2, 2, 1, 2, paused), nil, nil, nil, 2, "WaitingForReplicas", "1 of 2 replicas are of the newest template, and the Deployment is paused"},
		{"paused and complete", runs(2, 2, 2, 2, paused), nil, nil, nil, 2, "Available", "2 of 2 replicas are available"},
		{"paused and complete, after a failure that is over", runs(2, 2, 2, 2, paused, stuck, quota), nil, nil, nil, 2, "Available", "2 of 2 replicas are available"},
		{"another template", runs(2, 2, 2, 2, evil), nil, nil, nil, 2, "WaitingForReplicas", `spec.template.spec.containers of Deployment "deployment" is not as it must be yet`},
		{"numbers of an older spec", runs(2, 2, 2, 2, unobserved), nil, nil, nil, 2, "WaitingForReplicas", "the Deployment controller has not seen the new spec yet"},
		{"renamed: the new one counts", runs(2, 2, 2, 2), earlier, nil, nil, 2, "Available", "2 of 2 replicas are available"},
		{"no Deployment", nil, nil, nil, nil, 0, "WaitingForReplicas", `Deployment "deployment" does not exist yet`},
		{"no Deployment, and a request failed once", nil, earlier[:1], nil, failed(once, false), 3, "WaitingForReplicas", `Deployment "deployment" does not exist yet`},
		{"a request failed once", runs(2, 2, 2, 2), nil, nil, failed(once, false), 2, "Available", "2 of 2 replicas are available"},
		{"undone a moment ago", runs(2, 2, 2, 2), nil, nil, failed(controller.ErrUndone, false), 2, "Available", "2 of 2 replicas are available"},
		{"a quota on Pods", runs(2, 1, 1, 1, stuck, quota), nil, nil, nil, 1, "ReplicaFailure", "exceeded quota"},
		{"a quota on ReplicaSets", runs(2, 0, 0, 0, unobserved, noReplicaSet), nil, nil, nil, 0, "ReplicaFailure", "no ReplicaSet"},
		{"a quota on the ReplicaSet that was deleted", runs(2, 2, 2, 2, noReplicaSet), nil, nil, nil, 2, "ReplicaFailure", "no ReplicaSet"},
		{"no progress", runs(2, 1, 1, 1, stuck), nil, nil, nil, 1, "ProgressDeadlineExceeded", "timed out"},
		{"a new rollout that cannot finish, beside the old replicas", runs(2, 3, 1, 2, stuck), nil, nil, nil, 2, "ProgressDeadlineExceeded", "timed out"},
		{"progress", runs(2, 1, 1, 1, moves), nil, nil, nil, 1, "WaitingForReplicas", "1 of 2 replicas are available"},
		{"what failed with an older spec", runs(2, 1, 1, 1, unobserved, quota), nil, nil, nil, 1, "WaitingForReplicas", "1 of 2 replicas are available"},
		{"being deleted: its replicas still run", going, []*appsv1.Deployment{going}, checkController(going), nil, 0,
			"WaitingForDeletion", `Deployment "deployment" is being deleted, or the Foo that controls it is gone: a new one will follow`},
		{"of an earlier Foo", gone, earlier[:1], checkController(gone), nil, 3,
			"WaitingForDeletion", `Deployment "deployment" is being deleted, or the Foo that controls it is gone: a new one will follow`},
		{"taken: earlier ones count", taken, earlier, checkController(taken), nil, 7, "NameTaken",
			`Deployment "deployment" exists and is controlled by Bar "foo": delete it or change spec.deploymentName`},
		{"without a controller", free, nil, checkController(free), nil, 0, "NameTaken",
			`Deployment "deployment" exists and has no controller: delete it or change spec.deploymentName`},
		{"no good", nil, earlier[:1], invalid, nil, 3, "InvalidSpec", "spec.replicas: -1 is less than 0"},
		{"forbidden", nil, earlier[:1], nil, failed(forbidden, false), 3, "Forbidden", `deployments.apps "d" is forbidden: ` + cannot},
		{"refused as invalid", runs(2, 2, 2, 2), earlier[:1], nil, failed(refused, false), 2, "Forbidden", `update: Deployment "d" is invalid: spec: Forbidden: ` + cannot},
		{"an error that lasts", runs(2, 2, 2, 2), nil, nil, failed(errors.New("connection refused"), true), 2, "RequestFailed", "connection refused"},
		{"a write that did not stick", runs(2, 2, 2, 2), nil, nil, failed(fmt.Errorf("spec.replicas %w", errChanged), true), 2, "ChangedByOthers", "spec.replicas is not as it was sent: does an admission webhook change it?"},
		{"undone again and again", runs(2, 2, 2, 2), nil, nil, failed(controller.ErrUndone, true), 2, "ChangedByOthers", controller.ErrUndone.Error()},
		{"the namespace goes", nil, nil, nil, failed(terminating, false), 0, "NamespaceTerminating", terminating.Error()},
		{"two refusals", runs(2, 2, 2, 2), nil, nil, append(failed(forbidden, false), failed(refused, false)...), 2, "Forbidden", forbidden.Error() + "; " + refused.Error()},
	} {
		ready := metav1.ConditionFalse
		if test.word == "Available" {
			ready = metav1.ConditionTrue
		}
		want := v1alpha1.FooStatus{AvailableReplicas: test.available, ObservedGeneration: 3,
			Selector:   "samplecontroller.k8s.io/foo-uid=foo-uid",
			Conditions: []metav1.Condition{{Type: "Ready", Status: ready, ObservedGeneration: 3, Reason: test.word, Message: test.message}}}
		state := &fooState{foo: aFoo(), owned: test.owned, blocked: test.blocked, failures: test.failures}
		if test.deployment != nil {
			state.set(test.deployment)
		}
		got := calculateStatus(state, explain(state))
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(metav1.Condition{}, "LastTransitionTime"), cmpopts.IgnoreFields(v1alpha1.FooStatus{}, "Replicas")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.reason, diff)
		}
	}
}

// What a person need not be told twice has the same id.
func TestCause(t *testing.T) {
	first := controller.Failure{Write: "create Deployment default/app-v1", Err: apierrors.NewForbidden(appsv1.Resource("deployments"), "d",
		errors.New(`admission webhook "a.example.com" denied the request: id 4711`))}
	id := func(change func(f *controller.Failure)) string {
		f := first
		change(&f)
		c, _ := causeOf(f)
		return c.id
	}
	forbidden := func(text string) error {
		return apierrors.NewForbidden(appsv1.Resource("deployments"), "d", errors.New(text))
	}
	same := id(func(*controller.Failure) {})
	for _, test := range []struct {
		reason string
		same   bool
		change func(f *controller.Failure)
	}{
		{"another identifier", true, func(f *controller.Failure) {
			f.Err = forbidden(`admission webhook "a.example.com" denied the request: id c0ffee`)
		}},
		{"another webhook", false, func(f *controller.Failure) {
			f.Err = forbidden(`admission webhook "b.example.com" denied the request: id 4711`)
		}},
		{"a policy", false, func(f *controller.Failure) {
			f.Err = forbidden(`ValidatingAdmissionPolicy 'a.example.com' with binding 'b' denied request: id 4711`)
		}},
		{"a quota", false, func(f *controller.Failure) { f.Err = forbidden(`exceeded quota: a, requested: 1, used: 1`) }},
		{"another object", false, func(f *controller.Failure) { f.Write = "create Deployment default/app-v2" }},
		{"another operation", false, func(f *controller.Failure) { f.Write = "delete Deployment default/app-v1" }},
		{"another reason", false, func(f *controller.Failure) { f.Err = apierrors.NewBadRequest(first.Err.Error()) }},
	} {
		if got := id(test.change); (got == same) != test.same {
			t.Errorf("%s: %q and %q, want the same: %t", test.reason, same, got, test.same)
		}
	}
}

// statusOf is the status of a Foo whose Deployment is as its spec asks.
func statusOf(foo *v1alpha1.Foo, deployment *appsv1.Deployment) v1alpha1.FooStatus {
	state := &fooState{foo: foo}
	state.set(deployment)
	return calculateStatus(state, explain(state))
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
		return aDeployment(func(d *appsv1.Deployment) {
			d.ResourceVersion = "200"
			d.Status.Replicas, d.Status.UpdatedReplicas, d.Status.AvailableReplicas = available, available, available
		})
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
