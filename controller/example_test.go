package controller_test

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubefake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/clientset/fake"
	"example.com/byhand/controller"
	"example.com/byhand/informer"
)

// A complete controller: an informer fills a store, its handler fills a queue, and a worker
// takes a key. The reconcile compares and writes the difference. Package foo is the full
// version: it also keeps Deployments in a store.
func Example() {
	client := fake.NewClientset(&v1alpha1.Foo{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "example-foo"},
		Spec:       v1alpha1.FooSpec{DeploymentName: "example-deployment"},
	})
	kubeClient := kubefake.NewClientset()
	ctx, cancel := context.WithCancel(context.Background())

	queue := controller.NewQueue("foo")
	foos := informer.NewFoos(client, "", 10*time.Minute, controller.EnqueueObject(queue))

	reconcile := func(ctx context.Context, key cache.ObjectName) (time.Duration, error) {
		stored, exists, err := foos.Store.GetByKey(key.String())
		if err != nil || !exists {
			return 0, err // deleted, and nothing is left to do
		}
		foo := stored.(*v1alpha1.Foo)
		deployments := kubeClient.AppsV1().Deployments(foo.Namespace)
		_, err = deployments.Get(ctx, foo.Spec.DeploymentName, metav1.GetOptions{})
		if !apierrors.IsNotFound(err) {
			return 0, err // the Deployment exists, or the request failed and is retried
		}
		deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: foo.Spec.DeploymentName}}
		if _, err := deployments.Create(ctx, deployment, metav1.CreateOptions{}); err != nil {
			return 0, err
		}
		fmt.Println(key, "has its Deployment", foo.Spec.DeploymentName)
		cancel() // only so that the example ends
		return 0, nil
	}

	go foos.Run(ctx)
	if err := informer.WaitForSync(ctx, 10*time.Second, foos); err != nil {
		fmt.Println(err)
		return
	}
	controller.New(queue, reconcile).Run(ctx, 1)
	// Output:
	// default/example-foo has its Deployment example-deployment
}
