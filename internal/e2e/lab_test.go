//go:build integration || bare || long

package e2e

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
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
	events            *record.FakeRecorder
}

// newLab starts the informers over the test's namespace and waits for them.
// Handlers hear of everything again after resync, never if that is 0.
func newLab(s *server, resync time.Duration) *lab {
	s.Helper()
	l := &lab{server: s, proxy: s.proxied(), queue: controller.NewPriorityQueue(""), events: record.NewFakeRecorder(100_000)}
	config := &rest.Config{Host: l.proxy.URL, QPS: -1}
	client, kube := clientset.NewForConfigOrDie(config), kubernetes.NewForConfigOrDie(config)
	l.foos = informer.NewFoos(client, s.namespace, resync, controller.WithLowPriorityWhenUnchanged(controller.EnqueueObject)(l.queue))
	l.deployments = informer.NewDeployments(kube, s.namespace, resync, controller.WithLowPriorityWhenUnchanged(
		controller.EnqueueOwner(v1alpha1.Kind("Foo"), informer.FoosNaming(l.foos.Store)))(l.queue))
	l.reconciler = &controller.FooReconciler{
		Foos:            client.SamplecontrollerV1alpha1(),
		Deployments:     kube.AppsV1(),
		FooStore:        l.foos.Store,
		DeploymentStore: l.deployments.Store,
		Events:          l.events,
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

// work runs the controller until the returned function is called.
func (l *lab) work(workers int) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		controller.New(l.queue, l.reconciler.Reconcile).Run(ctx, workers)
	}()
	stop = func() {
		cancel()
		<-done
	}
	l.Cleanup(stop)
	return stop
}

// reconcile reconciles one Foo, which must not fail.
func (l *lab) reconcile(name string) (again time.Duration) {
	l.Helper()
	again, err := l.reconciler.Reconcile(l.Context(), cache.NewObjectName(l.namespace, name))
	if err != nil {
		l.Fatalf("reconcile %s: %v", name, err)
	}
	return again
}

// shows waits until a store has an object of this version, or a newer one.
func (l *lab) shows(i *informer.Informer, name, version string) {
	l.Helper()
	l.eventually(fmt.Sprintf("the store of %s shows version %s of %s", i.Resource, version, name), func() error {
		order, err := resourceversion.CompareResourceVersion(i.Store.LastStoreSyncResourceVersion(), version)
		if err == nil && order < 0 {
			err = errors.New("it is behind")
		}
		return err
	})
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
