package main

import (
	"context"
	"errors"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/byhand/internal/testkit/oracle"
)

// What the API server itself refuses or changes, because it is told to.

// fullQuota takes steps while a quota allows one Deployment, and there is one.
func fullQuota(steps ...step) step {
	return func(s *stage) error {
		quotas, deployments := s.kube.CoreV1().ResourceQuotas(s.namespace), s.kube.AppsV1().Deployments(s.namespace)
		one := corev1.ResourceList{"count/deployments.apps": resource.MustParse("1")}
		quota, err := quotas.Create(s.ctx, &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "full"}, Spec: corev1.ResourceQuotaSpec{Hard: one}}, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		// The judge plays the controller of quotas, too.
		quota.Status = corev1.ResourceQuotaStatus{Hard: one, Used: one}
		_, err = quotas.UpdateStatus(s.ctx, quota, metav1.UpdateOptions{})
		if err == nil {
			err = s.inEffect(func() (bool, error) {
				_, err := deployments.Create(s.ctx, theirDeployment("one-more"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
				return apierrors.IsForbidden(err), nil
			})
		}
		if err == nil {
			err = s.take(steps)
		}
		return errors.Join(err, quotas.Delete(context.WithoutCancel(s.ctx), quota.Name, metav1.DeleteOptions{}))
	}
}

// setBack takes steps while a policy gives a Deployment, whichever client writes it, one replica and an
// annotation that is another one each time: no write is without an event.
func setBack(name string, steps ...step) step {
	return func(s *stage) error {
		admission, meta := s.kube.AdmissionregistrationV1(), metav1.ObjectMeta{Name: s.namespace}
		_, err := admission.MutatingAdmissionPolicies().Create(s.ctx, &admissionv1.MutatingAdmissionPolicy{ObjectMeta: meta, Spec: admissionv1.MutatingAdmissionPolicySpec{
			ReinvocationPolicy: admissionv1.NeverReinvocationPolicy,
			MatchConstraints: &admissionv1.MatchResources{
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: s.namespace}},
				ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{Operations: []admissionv1.OperationType{admissionv1.Update},
					Rule: admissionv1.Rule{APIGroups: []string{"apps"}, APIVersions: []string{"v1"}, Resources: []string{"deployments"}}}}},
			},
			Mutations: []admissionv1.Mutation{{PatchType: admissionv1.PatchTypeApplyConfiguration, ApplyConfiguration: &admissionv1.ApplyConfiguration{
				Expression: `Object{spec: Object.spec{replicas: 1}, metadata: Object.metadata{annotations: {"example.com/after": oldObject.metadata.resourceVersion}}}`}}},
		}}, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		_, err = admission.MutatingAdmissionPolicyBindings().Create(s.ctx, &admissionv1.MutatingAdmissionPolicyBinding{ObjectMeta: meta,
			Spec: admissionv1.MutatingAdmissionPolicyBindingSpec{PolicyName: s.namespace}}, metav1.CreateOptions{})
		if err == nil {
			err = s.inEffect(func() (bool, error) {
				patched, err := s.kube.AppsV1().Deployments(s.namespace).Patch(s.ctx, name, mergePatch, encoded(note(time.Now().Nanosecond())), metav1.PatchOptions{})
				return err == nil && oracle.Replicas(patched) == 1, s.history.wrote(patched, err)
			})
		}
		if err == nil {
			err = s.take(steps)
		}
		return errors.Join(err, admission.MutatingAdmissionPolicyBindings().Delete(context.WithoutCancel(s.ctx), s.namespace, metav1.DeleteOptions{}),
			admission.MutatingAdmissionPolicies().Delete(context.WithoutCancel(s.ctx), s.namespace, metav1.DeleteOptions{}))
	}
}

// inEffect waits until the API server has heard of it.
func (s *stage) inEffect(is func() (bool, error)) error {
	for end := time.Now().Add(30 * time.Second); ; {
		switch effective, err := is(); {
		case err != nil || effective:
			return err
		case time.Now().After(end):
			return notJudged("the API server has not heard of the quota or the policy")
		}
		if err := s.pause(100 * time.Millisecond); err != nil {
			return err
		}
	}
}
