// Command core wires the parts as main.go does, without flags, election and servers. The judge can run it in
// memory, in seconds:
//
//	make judge QUICK=1 DIR=tools/judge/core
package main

import (
	"context"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/clientset"
	"example.com/byhand/controller"
	"example.com/byhand/controller/foo"
	"example.com/byhand/informer"
	"example.com/byhand/kit/connect"
	"example.com/byhand/kit/events"
)

// main runs the controller on the cluster that $KUBECONFIG names.
func main() {
	config, _, err := connect.Config(connect.Options{})
	if err == nil {
		err = run(context.Background(), config)
	}
	panic(err)
}

// run has the signature that the judge calls. It returns when ctx is done and all parts have ended.
func run(ctx context.Context, config *rest.Config) error {
	config.QPS = -1 // no limit, as in main.go
	client, kube := clientset.NewForConfigOrDie(config), kubernetes.NewForConfigOrDie(config)
	recorder, stopEvents, err := events.Start(config, "byhand", v1alpha1.AddToScheme)
	if err != nil {
		return err
	}
	defer stopEvents()

	queue := controller.NewQueue("foo")
	defer queue.ShutDown() // If the first lists fail, no worker shuts it down.
	foos, deployments := foo.NewInformers(client, kube, "", 10*time.Minute, queue)
	reconciler := &foo.Reconciler{
		Foos:            client.SamplecontrollerV1alpha1(),
		Deployments:     kube.AppsV1(),
		FooStore:        foos.Store,
		DeploymentStore: deployments.Store,
		Events:          recorder,
		Rewrites:        controller.NewRewrites(),
	}

	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() { foos.Run(ctx) })
	running.Go(func() { deployments.Run(ctx) })
	if err := informer.WaitForSync(ctx, 2*time.Minute, foos, deployments); err != nil {
		return err
	}
	controller.New(queue, reconciler.Reconcile).Run(ctx, 16)
	return nil
}
