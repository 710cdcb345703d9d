package court

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
)

// What the API server itself refuses or changes, because it is told to.

// fullQuota takes steps while a quota allows so many objects of a resource, and there are as many.
// refused reports whether one more is refused.
func fullQuota(resourceName corev1.ResourceName, n string, refused func(s *stage) error, steps ...step) step {
	return func(s *stage) {
		quotas, full := s.kube.CoreV1().ResourceQuotas(s.namespace), corev1.ResourceList{resourceName: resource.MustParse(n)}
		quota := must(quotas.Create(s.ctx, &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "full"}, Spec: corev1.ResourceQuotaSpec{Hard: full}}, metav1.CreateOptions{}))
		defer func() { check(quotas.Delete(context.WithoutCancel(s.ctx), quota.Name, metav1.DeleteOptions{})) }()
		// The judge plays the controller of quotas, too.
		quota.Status = corev1.ResourceQuotaStatus{Hard: full, Used: full}
		if _, err := quotas.UpdateStatus(s.ctx, quota, metav1.UpdateOptions{}); !apierrors.IsConflict(err) { // Then there is one.
			check(err)
		}
		s.inEffect(func() bool { return apierrors.IsForbidden(refused(s)) })
		s.take(steps...)
	}
}

var dryRun = metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}

// oneDeployment is a quota that the one Deployment fills.
func oneDeployment(steps ...step) step {
	return elsewhere(func(s *stage) { s.proxy.Intercept(refusing(http.StatusForbidden, http.MethodPost)(s)) }, func(s *stage) { s.proxy.Intercept(nil) }, steps, fullQuota("count/deployments.apps", "1", func(s *stage) error {
		_, err := s.kube.AppsV1().Deployments(s.namespace).Create(s.ctx, theirDeployment("one-more"), dryRun)
		return err
	}, steps...))
}

// noReplicaSets is a quota that admits no ReplicaSet.
func noReplicaSets(steps ...step) step {
	return elsewhere(func(s *stage) { s.history.most.Store(0) }, func(s *stage) { s.history.most.Store(math.MaxInt32) }, steps, fullQuota("count/replicasets.apps", "0", func(s *stage) error {
		d := theirDeployment("one-more")
		one := &appsv1.ReplicaSet{ObjectMeta: d.ObjectMeta, Spec: appsv1.ReplicaSetSpec{Selector: d.Spec.Selector, Template: d.Spec.Template}}
		_, err := s.kube.AppsV1().ReplicaSets(s.namespace).Create(s.ctx, one, dryRun)
		return err
	}, steps...))
}

// changedBack takes steps while a policy gives a Deployment, whichever client updates it, one
// replica and an annotation that is another one each time: no write is without an event.
func changedBack(name string, steps ...step) step {
	return changed(http.MethodPut, func(d object) {
		metadata := d["metadata"].(object)
		metadata["annotations"] = object{"example.com/after": metadata["resourceVersion"]}
		d["spec"].(object)["replicas"] = int64(1)
	}, append([]step{patchDeployment(name, object{"spec": object{"replicas": 1}})}, steps...), withPolicy(admissionv1.Update, admissionv1.Mutation{PatchType: admissionv1.PatchTypeApplyConfiguration, ApplyConfiguration: &admissionv1.ApplyConfiguration{
		Expression: `Object{spec: Object.spec{replicas: 1}, metadata: Object.metadata{annotations: {"example.com/after": oldObject.metadata.resourceVersion}}}`}},
		func(s *stage) bool {
			patched := must(s.kube.AppsV1().Deployments(s.namespace).Patch(s.ctx, name, mergePatch, encoded(note(time.Now().Nanosecond())), metav1.PatchOptions{}))
			s.history.wrote(patched)
			return oracle.Replicas(patched) == 1
		}, steps...))
}

// ownerStripped takes steps while a policy takes each new Deployment its owner references.
func ownerStripped(steps ...step) step {
	mutation := admissionv1.Mutation{PatchType: admissionv1.PatchTypeJSONPatch, JSONPatch: &admissionv1.JSONPatch{
		Expression: `has(object.metadata.ownerReferences) ? [JSONPatch{op: "remove", path: "/metadata/ownerReferences"}] : []`}}
	owners := func(s *stage, n int) bool {
		d := theirDeployment("owned")
		d.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: "its-uid"}}
		return len(must(s.kube.AppsV1().Deployments(s.namespace).Create(s.ctx, d, dryRun)).OwnerReferences) == n
	}
	return changed(http.MethodPost, func(d object) { delete(d["metadata"].(object), "ownerReferences") }, steps, func(s *stage) {
		withPolicy(admissionv1.Create, mutation, func(s *stage) bool { return owners(s, 0) }, steps...)(s)
		s.inEffect(func() bool { return owners(s, 1) })
	})
}

// withPolicy takes steps while a policy changes Deployments on their way to the store.
func withPolicy(on admissionv1.OperationType, mutation admissionv1.Mutation, effective func(s *stage) bool, steps ...step) step {
	return func(s *stage) {
		meta, admission := metav1.ObjectMeta{Name: s.namespace}, s.kube.AdmissionregistrationV1()
		policies, bindings := admission.MutatingAdmissionPolicies(), admission.MutatingAdmissionPolicyBindings()
		must(policies.Create(s.ctx, &admissionv1.MutatingAdmissionPolicy{ObjectMeta: meta, Spec: admissionv1.MutatingAdmissionPolicySpec{
			ReinvocationPolicy: admissionv1.NeverReinvocationPolicy,
			MatchConstraints: &admissionv1.MatchResources{
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: s.namespace}},
				ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{Operations: []admissionv1.OperationType{on},
					Rule: admissionv1.Rule{APIGroups: []string{"apps"}, APIVersions: []string{"v1"}, Resources: []string{"deployments"}}}}},
			},
			Mutations: []admissionv1.Mutation{mutation},
		}}, metav1.CreateOptions{}))
		defer func() { check(policies.Delete(context.WithoutCancel(s.ctx), s.namespace, metav1.DeleteOptions{})) }()
		must(bindings.Create(s.ctx, &admissionv1.MutatingAdmissionPolicyBinding{ObjectMeta: meta,
			Spec: admissionv1.MutatingAdmissionPolicyBindingSpec{PolicyName: s.namespace}}, metav1.CreateOptions{}))
		defer func() { check(bindings.Delete(context.WithoutCancel(s.ctx), s.namespace, metav1.DeleteOptions{})) }()
		s.inEffect(func() bool { return effective(s) })
		s.take(steps...)
	}
}

// inEffect waits until the API server has heard of it, or of its end.
func (s *stage) inEffect(is func() bool) {
	s.needs(30*time.Second, is, "the API server has not heard of the quota or the policy")
}
