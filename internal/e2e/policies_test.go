//go:build integration || long

package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

// somebodys is a Deployment that the controller did not make.
func somebodys(name string, owners ...metav1.OwnerReference) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels, OwnerReferences: owners},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(1)),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "theirs", Image: "theirs"}}},
			},
		},
	}
}

func (s *server) createDeployment(deployment *appsv1.Deployment) *appsv1.Deployment {
	s.Helper()
	created, err := s.kube.AppsV1().Deployments(s.namespace).Create(s.Context(), deployment, metav1.CreateOptions{})
	if err != nil {
		s.Fatal(err)
	}
	return created
}

// policy is a policy for the Deployments of the test's namespace.
func (s *server) policy(validation admissionv1.Validation) *admissionv1.ValidatingAdmissionPolicy {
	return &admissionv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: s.namespace}, Spec: admissionv1.ValidatingAdmissionPolicySpec{
		MatchConstraints: &admissionv1.MatchResources{
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": s.namespace}},
			ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
				Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update},
				Rule:       admissionv1.Rule{APIGroups: []string{"apps"}, APIVersions: []string{"v1"}, Resources: []string{"deployments"}},
			}}},
		},
		Validations: []admissionv1.Validation{validation},
	}}
}

// enforce puts a policy in force and waits until inForce returns nil. The policy lasts
// until lift is called, or the test ends.
func (s *server) enforce(policy *admissionv1.ValidatingAdmissionPolicy, inForce func() error) (lift func()) {
	s.Helper()
	policies, bindings := s.kube.AdmissionregistrationV1().ValidatingAdmissionPolicies(), s.kube.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings()
	lift = sync.OnceFunc(func() {
		err := bindings.Delete(context.Background(), policy.Name, metav1.DeleteOptions{})
		if err := errors.Join(err, policies.Delete(context.Background(), policy.Name, metav1.DeleteOptions{})); err != nil {
			s.Errorf("lift the policy: %v", err)
		}
	})
	s.Cleanup(lift)
	if _, err := policies.Create(s.Context(), policy, metav1.CreateOptions{}); err != nil {
		s.Fatal(err)
	}
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: policy.Name}, Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
		PolicyName: policy.Name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny}}}
	if _, err := bindings.Create(s.Context(), binding, metav1.CreateOptions{}); err != nil {
		s.Fatal(err)
	}
	s.eventually("the policy is in force", inForce)
	return lift
}

// says waits until the Foo's Ready condition is of its newest spec and has this
// reason, and this text in its message.
func (s *server) says(name, reason, text string) {
	s.Helper()
	s.eventually(fmt.Sprintf("Foo %s says %s", name, reason), func() error {
		foo, err := s.foo(name)
		if err != nil {
			return err
		}
		ready := meta.FindStatusCondition(foo.Status.Conditions, v1alpha1.FooReady)
		if ready == nil || ready.Reason != reason || ready.ObservedGeneration != foo.Generation || !strings.Contains(ready.Message, text) {
			return fmt.Errorf("generation %d, Ready is %+v", foo.Generation, ready)
		}
		return nil
	})
}

// warnings returns how often each Foo was warned, by name.
func (s *server) warnings() (map[string]int, error) {
	events, err := s.kube.CoreV1().Events(s.namespace).List(s.Context(), metav1.ListOptions{FieldSelector: "involvedObject.kind=Foo,type=" + corev1.EventTypeWarning})
	if err != nil {
		return nil, err
	}
	warned := map[string]int{}
	for _, event := range events.Items {
		warned[event.InvolvedObject.Name] += int(event.Count)
	}
	return warned, nil
}

// atRest returns nil when nobody has anything left to do with the Deployments of
// the namespace, the Deployments' own controller included: each Foo has what it
// wants or says why not, and no rollout is under way.
func (s *server) atRest() error {
	deployments, err := s.kube.AppsV1().Deployments(s.namespace).List(s.Context(), metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, d := range deployments.Items {
		wanted, status := *d.Spec.Replicas, d.Status
		if d.DeletionTimestamp != nil || status.ObservedGeneration != d.Generation ||
			status.Replicas != wanted || status.UpdatedReplicas != wanted || status.AvailableReplicas != wanted {
			return fmt.Errorf("Deployment %s wants %d replicas and is at %+v", d.Name, wanted, status)
		}
	}
	return s.consistent()
}

// history is every version that the namespace's Deployments have had.
type history struct {
	*server
	mu       sync.Mutex
	versions map[types.UID][]*appsv1.Deployment // in the order of their writes
	deleted  map[types.UID]bool
	seen     map[string]time.Time // when a Deployment of this name was first seen
	// going holds the Foos that somebody has deleted, and since which version.
	going map[types.UID]string
	ended error
}

// record keeps the history from now on, until the test ends.
func (s *server) record() *history {
	s.Helper()
	h := &history{server: s, versions: map[types.UID][]*appsv1.Deployment{}, deleted: map[types.UID]bool{}, seen: map[string]time.Time{}, going: map[types.UID]string{}}
	deployments, err := s.kube.AppsV1().Deployments(s.namespace).List(s.Context(), metav1.ListOptions{})
	if err != nil {
		s.Fatal(err)
	}
	for i := range deployments.Items {
		h.addDeployment(watch.Added, &deployments.Items[i])
	}
	options := metav1.ListOptions{ResourceVersion: deployments.ResourceVersion, TimeoutSeconds: new(int64(3600))}
	h.follow(s.kube.AppsV1().Deployments(s.namespace).Watch(context.Background(), options))
	h.follow(s.client.SamplecontrollerV1alpha1().Foos(s.namespace).Watch(context.Background(), options))
	return h
}

// follow adds what a watch brings.
func (h *history) follow(stream watch.Interface, err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for event := range stream.ResultChan() {
			switch object := event.Object.(type) {
			case *appsv1.Deployment:
				h.addDeployment(event.Type, object)
			case *v1alpha1.Foo:
				h.addFoo(event.Type, object)
			}
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.ended = errors.New("a watch has ended")
	}()
	h.Cleanup(func() {
		stream.Stop()
		<-done
	})
}

func (h *history) addDeployment(what watch.EventType, deployment *appsv1.Deployment) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if what == watch.Deleted {
		h.deleted[deployment.UID] = true
	}
	h.versions[deployment.UID] = append(h.versions[deployment.UID], deployment)
	if _, known := h.seen[deployment.Name]; !known {
		h.seen[deployment.Name] = time.Now()
	}
}

func (h *history) addFoo(what watch.EventType, foo *v1alpha1.Foo) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, known := h.going[foo.UID]; !known && (what == watch.Deleted || foo.DeletionTimestamp != nil) {
		h.going[foo.UID] = foo.ResourceVersion
	}
}

// complete waits until the history holds everything that has happened to the
// Deployments by now: it makes something happen, and waits for that.
func (h *history) complete() {
	h.Helper()
	last := h.createDeployment(somebodys("the-last-one"))
	h.deleteDeployment(last.Name)
	h.eventually("the history is complete", func() error {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.ended != nil {
			return h.ended
		}
		if !h.deleted[last.UID] {
			return errors.New("the last Deployment is not in it")
		}
		delete(h.versions, last.UID)
		return nil
	})
}

// writers returns who has written these versions of a Deployment, by the name
// under which the API server files their fields.
func writers(versions []*appsv1.Deployment) map[string]bool {
	names := map[string]bool{}
	for _, version := range versions {
		for _, entry := range version.ManagedFields {
			names[entry.Manager] = true
		}
	}
	return names
}
