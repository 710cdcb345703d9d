package scenario

import (
	"context"
	"math"
	"net/http"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/byhand/internal/tests/oracle"
	"example.com/byhand/tools/judge/internal/court/stage"
)

// Rejections and changes by the API server's own admission control.

// fullQuota takes steps while a quota allows n objects of a resource and is full. refused tries to create one
// more, and returns the error.
func fullQuota(resourceName corev1.ResourceName, n string, refused func(s *stage.Stage) error, steps ...stage.Step) stage.Step {
	return func(s *stage.Stage) {
		quotas, full := s.Kube.CoreV1().ResourceQuotas(s.Namespace), corev1.ResourceList{resourceName: resource.MustParse(n)}
		quota := stage.Must(quotas.Create(s.Ctx, &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "full"}, Spec: corev1.ResourceQuotaSpec{Hard: full}}, metav1.CreateOptions{}))
		defer func() { stage.Check(quotas.Delete(context.WithoutCancel(s.Ctx), quota.Name, metav1.DeleteOptions{})) }()
		// The judge also plays the controller of quotas. A conflict means that there is a real one.
		quota.Status = corev1.ResourceQuotaStatus{Hard: full, Used: full}
		if _, err := quotas.UpdateStatus(s.Ctx, quota, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
			stage.Check(err)
		}
		inEffect(s, func() bool { return apierrors.IsForbidden(refused(s)) })
		s.Take(steps...)
	}
}

var DryRun = metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}

// oneDeployment takes steps while a quota admits only one Deployment.
func oneDeployment(steps ...stage.Step) stage.Step {
	return elsewhere(func(s *stage.Stage) { s.Proxy.Intercept(Refusing(http.StatusForbidden, http.MethodPost)(s)) }, func(s *stage.Stage) { s.Proxy.Intercept(nil) }, steps, fullQuota("count/deployments.apps", "1", func(s *stage.Stage) error {
		_, err := s.Kube.AppsV1().Deployments(s.Namespace).Create(s.Ctx, theirDeployment("one-more"), DryRun)
		return err
	}, steps...))
}

// noReplicaSets takes steps while a quota admits no ReplicaSet.
func noReplicaSets(steps ...stage.Step) stage.Step {
	return elsewhere(func(s *stage.Stage) { s.History.Most.Store(0) }, func(s *stage.Stage) { s.History.Most.Store(math.MaxInt32) }, steps, fullQuota("count/replicasets.apps", "0", func(s *stage.Stage) error {
		d := theirDeployment("one-more")
		one := &appsv1.ReplicaSet{ObjectMeta: d.ObjectMeta, Spec: appsv1.ReplicaSetSpec{Selector: d.Spec.Selector, Template: d.Spec.Template}}
		_, err := s.Kube.AppsV1().ReplicaSets(s.Namespace).Create(s.Ctx, one, DryRun)
		return err
	}, steps...))
}

// changedBack takes steps while a policy changes each update of a Deployment, by any client. It sets one
// replica and an annotation that changes every time, so each write causes an event.
func changedBack(name string, steps ...stage.Step) stage.Step {
	return changed(http.MethodPut, func(d stage.Object) {
		metadata := d["metadata"].(stage.Object)
		metadata["annotations"] = stage.Object{"example.com/after": metadata["resourceVersion"]}
		d["spec"].(stage.Object)["replicas"] = int64(1)
	}, append([]stage.Step{patchDeployment(name, stage.Object{"spec": stage.Object{"replicas": 1}})}, steps...), withPolicy(admissionv1.Update, admissionv1.Mutation{PatchType: admissionv1.PatchTypeApplyConfiguration, ApplyConfiguration: &admissionv1.ApplyConfiguration{
		Expression: `Object{spec: Object.spec{replicas: 1}, metadata: Object.metadata{annotations: {"example.com/after": oldObject.metadata.resourceVersion}}}`}},
		func(s *stage.Stage) bool {
			patched := stage.Must(s.Kube.AppsV1().Deployments(s.Namespace).Patch(s.Ctx, name, stage.MergePatch, stage.Encoded(note(time.Now().Nanosecond())), metav1.PatchOptions{}))
			s.History.Wrote(patched)
			return oracle.Replicas(patched) == 1
		}, steps...))
}

// ownerStripped takes steps while a policy removes the owner references of new Deployments.
func ownerStripped(steps ...stage.Step) stage.Step {
	mutation := admissionv1.Mutation{PatchType: admissionv1.PatchTypeJSONPatch, JSONPatch: &admissionv1.JSONPatch{
		Expression: `has(object.metadata.ownerReferences) ? [JSONPatch{op: "remove", path: "/metadata/ownerReferences"}] : []`}}
	owners := func(s *stage.Stage, n int) bool {
		d := theirDeployment("owned")
		d.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: "its-uid"}}
		return len(stage.Must(s.Kube.AppsV1().Deployments(s.Namespace).Create(s.Ctx, d, DryRun)).OwnerReferences) == n
	}
	return changed(http.MethodPost, func(d stage.Object) { delete(d["metadata"].(stage.Object), "ownerReferences") }, steps, func(s *stage.Stage) {
		withPolicy(admissionv1.Create, mutation, func(s *stage.Stage) bool { return owners(s, 0) }, steps...)(s)
		inEffect(s, func() bool { return owners(s, 1) })
	})
}

// withPolicy takes steps while an admission policy changes Deployments.
func withPolicy(on admissionv1.OperationType, mutation admissionv1.Mutation, effective func(s *stage.Stage) bool, steps ...stage.Step) stage.Step {
	return func(s *stage.Stage) {
		meta, admission := metav1.ObjectMeta{Name: s.Namespace}, s.Kube.AdmissionregistrationV1()
		policies, bindings := admission.MutatingAdmissionPolicies(), admission.MutatingAdmissionPolicyBindings()
		stage.Must(policies.Create(s.Ctx, &admissionv1.MutatingAdmissionPolicy{ObjectMeta: meta, Spec: admissionv1.MutatingAdmissionPolicySpec{
			ReinvocationPolicy: admissionv1.NeverReinvocationPolicy,
			MatchConstraints: &admissionv1.MatchResources{
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: s.Namespace}},
				ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{Operations: []admissionv1.OperationType{on},
					Rule: admissionv1.Rule{APIGroups: []string{"apps"}, APIVersions: []string{"v1"}, Resources: []string{"deployments"}}}}},
			},
			Mutations: []admissionv1.Mutation{mutation},
		}}, metav1.CreateOptions{}))
		defer func() {
			stage.Check(policies.Delete(context.WithoutCancel(s.Ctx), s.Namespace, metav1.DeleteOptions{}))
		}()
		stage.Must(bindings.Create(s.Ctx, &admissionv1.MutatingAdmissionPolicyBinding{ObjectMeta: meta,
			Spec: admissionv1.MutatingAdmissionPolicyBindingSpec{PolicyName: s.Namespace}}, metav1.CreateOptions{}))
		defer func() {
			stage.Check(bindings.Delete(context.WithoutCancel(s.Ctx), s.Namespace, metav1.DeleteOptions{}))
		}()
		inEffect(s, func() bool { return effective(s) })
		s.Take(steps...)
	}
}

// inEffect waits until the quota or the policy, or its deletion, is in effect.
func inEffect(s *stage.Stage, is func() bool) {
	s.Needs(30*time.Second, is, "the quota or policy has not taken effect")
}

// elsewhere takes steps between begin and end in memory, and the step real on a control plane.
func elsewhere(begin, end func(s *stage.Stage), steps []stage.Step, real stage.Step) stage.Step {
	return func(s *stage.Stage) {
		if s.Api == nil {
			real(s)
			return
		}
		begin(s)
		defer end(s)
		s.Take(steps...)
	}
}

// changed is elsewhere. In memory it applies change to each Deployment that the program sends with this
// method.
func changed(method string, change func(deployment stage.Object), steps []stage.Step, real stage.Step) stage.Step {
	return elsewhere(func(s *stage.Stage) {
		s.Proxy.Mutate(func(r *http.Request, d map[string]any) {
			if r.Method == method && WritesMade(s, r) {
				change(d)
			}
		})
	}, func(s *stage.Stage) { s.Proxy.Mutate(nil) }, steps, real)
}
