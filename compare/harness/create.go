package main

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
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

// newFoo returns a Foo that wants a Deployment of its own name with one replica.
func newFoo(name string) *v1alpha1.Foo {
	return &v1alpha1.Foo{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       v1alpha1.FooSpec{DeploymentName: name, Replicas: new(int32(1))},
	}
}

func (s *server) createFoo(ctx context.Context, foo *v1alpha1.Foo) (*v1alpha1.Foo, error) {
	created, err := s.client.SamplecontrollerV1alpha1().Foos(namespace).Create(ctx, foo, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("create Foo %s: %w", foo.Name, err)
	}
	return created, nil
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

// parallel calls do once for each name, from 16 goroutines, until one call fails.
func parallel(ctx context.Context, names []string, do func(ctx context.Context, name string) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(16)
	for _, name := range names {
		group.Go(func() error { return do(ctx, name) })
	}
	return group.Wait()
}
