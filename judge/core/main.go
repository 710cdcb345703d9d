// Command core is the wiring of main.go without flags, election and servers, for make judge QUICK=1 DIR=judge/core.
package main

import (
	"context"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"example.com/byhand/clientset"
	"example.com/byhand/controller"
	"example.com/byhand/controller/foo"
	"example.com/byhand/informer"
	"example.com/byhand/internal/events"
	"example.com/byhand/kit/connect"
)

func main() {
	config, _, err := connect.Config(connect.Options{QPS: -1})
	if err == nil {
		err = run(context.Background(), config)
	}
	panic(err)
}

func run(ctx context.Context, config *rest.Config) error {
	config.QPS = -1
	recorder, stop, err := events.Start(config, "byhand")
	if err != nil {
		return err
	}
	defer stop()
	client, kube := clientset.NewForConfigOrDie(config), kubernetes.NewForConfigOrDie(config)
	queue := controller.NewQueue("foo")
	defer queue.ShutDown()
	foos, deployments := foo.NewInformers(client, kube, "", 10*time.Minute, queue)
	r := &foo.Reconciler{Foos: client.SamplecontrollerV1alpha1(), Deployments: kube.AppsV1(), FooStore: foos.Store, DeploymentStore: deployments.Store,
		Events: recorder, Rewrites: controller.NewRewrites()}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() { foos.Run(ctx) })
	running.Go(func() { deployments.Run(ctx) })
	if err := informer.WaitForSync(ctx, 2*time.Minute, foos, deployments); err != nil {
		return err
	}
	controller.New(queue, r.Reconcile).Run(ctx, 16)
	return nil
}
