package informer_test

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/clientset/fake"
	"example.com/byhand/informer"
)

// An informer with a fake client: the first list fills the Store. After WaitForSync,
// reading the Store sends no request.
func Example() {
	client := fake.NewClientset(&v1alpha1.Foo{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "example-foo"},
		Spec:       v1alpha1.FooSpec{DeploymentName: "example-deployment"},
	})
	foos := informer.NewFoos(client, "default", 10*time.Minute, cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { fmt.Println("added", obj.(*v1alpha1.Foo).Name) },
	})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go foos.Run(ctx)
	if err := informer.WaitForSync(ctx, 10*time.Second, foos); err != nil {
		fmt.Println(err)
		return
	}
	for _, key := range informer.FoosNaming(foos.Store)(&metav1.ObjectMeta{Namespace: "default", Name: "example-deployment"}) {
		fmt.Println("names example-deployment:", key)
	}
	// Output:
	// added example-foo
	// names example-deployment: default/example-foo
}
