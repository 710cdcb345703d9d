package main

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

// namespace is where the Foos are.
const namespace = "default"

var (
	foos        = v1alpha1.SchemeGroupVersion.WithResource("foos")
	deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
)

// createFoo creates a Foo that wants a Deployment of its own name with one replica.
func (s *server) createFoo(ctx context.Context, name string, finalizers ...string) (*v1alpha1.Foo, error) {
	return s.client.SamplecontrollerV1alpha1().Foos(namespace).Create(ctx, &v1alpha1.Foo{
		ObjectMeta: metav1.ObjectMeta{Name: name, Finalizers: finalizers},
		Spec:       v1alpha1.FooSpec{DeploymentName: name, Replicas: new(int32(1))},
	}, metav1.CreateOptions{})
}

// fooName has the same length for each number, see createFoos.
func fooName(i int) string { return fmt.Sprintf("foo-%06d", i) }

// fooNames returns the names of the first n Foos.
func fooNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fooName(i)
	}
	return names
}
