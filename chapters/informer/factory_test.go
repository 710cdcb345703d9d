package main

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
)

// A factory creates one informer per kind, no matter how often the informer is requested. A lister
// reads the informer's store.
func Example_factory() {
	client := fake.NewClientset(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "one"}})
	ctx, stop := context.WithCancel(context.Background())
	factory := informers.NewSharedInformerFactory(client, 0)

	deployments := factory.Apps().V1().Deployments()
	handled, _ := deployments.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { fmt.Println("added", obj.(*appsv1.Deployment).Name) },
	})
	fmt.Println(deployments.Informer().GetStore() == factory.Apps().V1().Deployments().Informer().GetStore())

	factory.StartWithContext(ctx) // the informers requested so far
	cache.WaitForCacheSync(ctx.Done(), handled.HasSynced)
	found, err := deployments.Lister().Deployments("default").Get("one")
	fmt.Println(found.Name, err)
	stop()
	factory.Shutdown()
	// Output:
	// true
	// added one
	// one <nil>
}
