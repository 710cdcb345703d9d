package main

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

// verify reads everything and fails unless each of n Foos controls exactly one
// Deployment, the one that it names, with the replicas that it wants, and has a
// status.
func (s *server) verify(ctx context.Context, n int) error {
	foos, err := s.client.SamplecontrollerV1alpha1().Foos(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list the Foos: %w", err)
	}
	deployments, err := s.kube.AppsV1().Deployments(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list the Deployments: %w", err)
	}
	if len(foos.Items) != n || len(deployments.Items) != n {
		return fmt.Errorf("there are %d Foos and %d Deployments, want %d of each", len(foos.Items), len(deployments.Items), n)
	}
	byName := map[string]*appsv1.Deployment{}
	for i := range deployments.Items {
		byName[deployments.Items[i].Name] = &deployments.Items[i]
	}
	for i := range foos.Items {
		if problem := wrong(&foos.Items[i], byName[foos.Items[i].Spec.DeploymentName]); problem != "" {
			return fmt.Errorf("not as it must be: Foo %s: %s", foos.Items[i].Name, problem)
		}
	}
	return nil
}

// wrong says what is wrong with a Foo and the Deployment that it
// names, which may be nil; "" if all is well.
func wrong(foo *v1alpha1.Foo, deployment *appsv1.Deployment) string {
	switch {
	case deployment == nil:
		return "its Deployment is missing"
	case !metav1.IsControlledBy(deployment, foo):
		return fmt.Sprintf("its Deployment is controlled by %v", metav1.GetControllerOf(deployment))
	case deployment.Spec.Replicas == nil || *deployment.Spec.Replicas != *foo.Spec.Replicas:
		return fmt.Sprintf("it wants %d replicas, its Deployment has another number", *foo.Spec.Replicas)
	case !slices.ContainsFunc(foo.ManagedFields, func(entry metav1.ManagedFieldsEntry) bool { return entry.Subresource == "status" }):
		// Only managedFields distinguish a status of zeros from no status.
		return "nobody has written its status"
	}
	return ""
}
