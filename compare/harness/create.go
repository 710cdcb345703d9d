package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

// namespace is where the Foos are.
const namespace = "default"

var (
	crds        = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	foos        = v1alpha1.SchemeGroupVersion.WithResource("foos")
	deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
)

// install creates the CRDs of config/crd and waits until they are served, and until
// there is the namespace, which the API server makes by itself.
func (s *server) install(ctx context.Context) error {
	client, err := dynamic.NewForConfig(s.config)
	if err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(s.home, "..", "config", "crd", "*.yaml"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("no CRDs in config/crd (%v)", err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		crd := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(content, &crd.Object); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if _, err := client.Resource(crds).Create(ctx, crd, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create the CRD of %s: %w", file, err)
		}
	}
	// Without client-go's own retries: it would wait for a second each time the API
	// server says that it is not ready yet.
	served := func(ctx context.Context) error {
		return errors.Join(
			s.client.SamplecontrollerV1alpha1().RESTClient().Get().Resource("foos").MaxRetries(0).Do(ctx).Error(),
			s.client.ExamplesV1alpha1().RESTClient().Get().Resource("projects").MaxRetries(0).Do(ctx).Error(),
			s.kube.CoreV1().RESTClient().Get().Resource("namespaces").Name(namespace).MaxRetries(0).Do(ctx).Error())
	}
	var last error
	err = wait.PollUntilContextCancel(ctx, 20*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		last = served(ctx)
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("wait until the CRDs are served: %w (%w)", err, last)
	}
	return nil
}

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

// scaleFoo changes the wanted replicas of a Foo.
func (s *server) scaleFoo(ctx context.Context, name string, replicas int) error {
	patch := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas)
	_, err := s.client.SamplecontrollerV1alpha1().Foos(namespace).Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{})
	if err != nil {
		return fmt.Errorf("patch Foo %s: %w", name, err)
	}
	return nil
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
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var running sync.WaitGroup
	for range 16 {
		running.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(names) {
					return
				}
				if err := do(ctx, names[i]); err != nil {
					cancel(err)
				}
			}
		})
	}
	running.Wait()
	return context.Cause(ctx)
}
