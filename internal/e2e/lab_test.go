//go:build integration || bare || long

package e2e

import (
	"context"
	"sync"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/clientset"
	"example.com/byhand/controller"
	"example.com/byhand/informer"
	"example.com/byhand/internal/testkit"
)

// lab is the controller inside the test, on the real API server: its informers
// run, but nothing is reconciled until the test says so. The proxy between it and the
// server observes and disturbs.
type lab struct {
	*server
	proxy             *testkit.Proxy
	foos, deployments *informer.Informer
	queue             controller.PriorityQueue
	reconciler        *controller.FooReconciler
}

// newLab starts the informers over the test's namespace, without a resync, and waits for
// them.
func newLab(s *server) *lab {
	s.Helper()
	l := &lab{server: s, proxy: s.proxied(), queue: controller.NewPriorityQueue("")}
	config := &rest.Config{Host: l.proxy.URL, QPS: -1}
	client, kube := clientset.NewForConfigOrDie(config), kubernetes.NewForConfigOrDie(config)
	l.foos = informer.NewFoos(client, s.namespace, 0, controller.WithLowPriorityWhenUnchanged(controller.EnqueueObject)(l.queue))
	l.deployments = informer.NewDeployments(kube, s.namespace, 0, controller.WithLowPriorityWhenUnchanged(
		controller.EnqueueOwner(v1alpha1.Kind("Foo"), informer.FoosNaming(l.foos.Store)))(l.queue))
	l.reconciler = &controller.FooReconciler{
		Foos:            client.SamplecontrollerV1alpha1(),
		Deployments:     kube.AppsV1(),
		FooStore:        l.foos.Store,
		DeploymentStore: l.deployments.Store,
		Events:          record.NewFakeRecorder(100_000),
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for _, i := range []*informer.Informer{l.foos, l.deployments} {
		running.Go(func() { i.Run(ctx) })
	}
	s.Cleanup(func() {
		cancel()
		running.Wait()
	})
	if err := informer.WaitForSync(ctx, deadline, l.foos, l.deployments); err != nil {
		s.Fatal(err)
	}
	return l
}

// proxied starts a proxy between the test's clients and the API server.
func (s *server) proxied() *testkit.Proxy {
	s.Helper()
	proxy, err := testkit.NewProxy(s.config)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = proxy.Close() })
	return proxy
}
