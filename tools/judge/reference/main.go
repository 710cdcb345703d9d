// Command reference is a Foo controller that the judge is tested with: small, right as it
// is, and wrong in one way for each of its flags.
//
//	go run ./tools/judge/reference                a right one, on the API server that $KUBECONFIG names
//	go run ./tools/judge/reference -no-guard      one that writes what is another's
//
// Which line is the bug? Each one stands beside the right line, as has(bugs.NoGuard). What
// each does, and which scenarios of the judge must catch it, is in the package bugs.
//
// Read watch.go (lists, watches and what they lead to), worker.go (what is retried, and
// when), reconcile.go (current and desired state) and deployment.go (the writes).
//
// It differs from the controller of this repository where that makes a line easier to point
// at. It keeps Foos as they come and decodes each one alone. It asks the API server for
// the live Foo before each write of a Deployment, and so needs no memory of its own writes.
// That costs one request more for each.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/controller"
	"example.com/byhand/tools/judge/reference/bugs"
)

const (
	workers = 4
	// resync is how often each Foo is reconciled without an event. It is no way to notice
	// something: by then, a person who waits has given up.
	resync = 10 * time.Minute
)

// has says whether the program is to have a bug.
func has(bug *bugs.Bug) bool { return bug.On }

func init() {
	for _, bug := range bugs.All {
		flag.BoolVar(&bug.On, bug.Name, false, bug.Does)
	}
}

func main() {
	kubeconfig := flag.String("kubeconfig", os.Getenv("KUBECONFIG"), "kubeconfig `file` (default: $KUBECONFIG)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err == nil {
		err = run(ctx, config)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "reference:", err)
		os.Exit(1)
	}
}

// run wires it and returns when ctx is done and each worker has finished.
func run(ctx context.Context, config *rest.Config) error {
	if !has(bugs.DefaultQPS) {
		config.QPS = -1 // No limit but the API server's own.
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	kubeClient, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}

	c := &fooController{
		foos:        client.Resource(v1alpha1.SchemeGroupVersion.WithResource("foos")),
		deployments: kubeClient.AppsV1(),
		queue:       controller.NewQueue("foo"),
		retries:     make(chan struct{}, workers/2),
	}
	var watchFoos, watchDeployments cache.Controller
	c.fooStore, watchFoos = newInformer(c.foos.List, c.foos.Watch, &unstructured.Unstructured{}, cache.ResourceEventHandlerFuncs{
		AddFunc:    c.enqueueFoo,
		UpdateFunc: func(_, after any) { c.enqueueFoo(after) },
		DeleteFunc: c.enqueueFoo,
	}, cache.Indexers{byDeploymentName: deploymentNameOf})
	onDeployment := cache.ResourceEventHandlerFuncs{
		AddFunc:    c.enqueueOwner,
		UpdateFunc: func(_, after any) { c.enqueueOwner(after) },
	}
	if !has(bugs.DeafToDeletion) {
		onDeployment.DeleteFunc = c.enqueueOwner
	}
	deployments := c.deployments.Deployments(metav1.NamespaceAll)
	c.deploymentStore, watchDeployments = newInformer(deployments.List, deployments.Watch, &appsv1.Deployment{}, onDeployment, cache.Indexers{byController: controllerOf})

	var running sync.WaitGroup
	running.Go(func() { watchFoos.RunWithContext(ctx) })
	running.Go(func() { watchDeployments.RunWithContext(ctx) })
	// To an empty store, every Deployment is missing.
	cache.WaitForCacheSync(ctx.Done(), watchFoos.HasSynced, watchDeployments.HasSynced)
	for range workers {
		running.Go(func() { c.work(ctx) })
	}
	<-ctx.Done()
	c.queue.ShutDown()
	running.Wait()
	return nil
}
