//go:build integration

package e2e

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/internal/tests/oracle"
)

func (s *server) foo(name string) (*v1alpha1.Foo, error) {
	return s.client.SamplecontrollerV1alpha1().Foos(s.namespace).Get(s.Context(), name, metav1.GetOptions{})
}

// converges waits until the namespace is consistent, and this Foo has the Deployment and the replicas.
func (s *server) converges(foo, deployment string, replicas int32) {
	s.Helper()
	s.eventually(fmt.Sprintf("Foo %s gets %d replicas in Deployment %s", foo, replicas, deployment), func() error {
		f, err := s.foo(foo)
		if err == nil {
			err = s.consistent()
		}
		if err == nil && (f.Spec.DeploymentName != deployment || f.Status.AvailableReplicas != replicas) {
			err = fmt.Errorf("its spec is %+v, its status %+v", f.Spec, f.Status)
		}
		return err
	})
}

func (s *server) consistent() error {
	foos, err := s.client.SamplecontrollerV1alpha1().Foos(s.namespace).List(s.Context(), metav1.ListOptions{})
	if err != nil {
		return err
	}
	deployments, err := s.kube.AppsV1().Deployments(s.namespace).List(s.Context(), metav1.ListOptions{})
	if err != nil {
		return err
	}
	return oracle.Ours(foos.Items, deployments.Items).Err()
}

func foreignDeployment(name string, owners ...metav1.OwnerReference) *appsv1.Deployment {
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
