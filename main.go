// Command byhand runs a controller without generated code: it keeps Projects, Foos and Deployments in memory,
// and gives each Foo its Deployment.
//
//	go run main.go --kubeconfig FILE
//
// run connects the parts of the picture in README.md, in the order of the data flow.
//
// On SIGTERM or Ctrl-C the informers stop, and running reconciles finish within 30 s. Then the Lease is
// released, and Events and HTTP servers stop. A second signal ends the process at once.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/clientset"
	"example.com/byhand/controller"
	"example.com/byhand/controller/foo"
	"example.com/byhand/informer"
	"example.com/byhand/internal/observe/app"
	"example.com/byhand/internal/observe/kinds"
	"example.com/byhand/internal/observe/trace"
	"example.com/byhand/kit/connect"
	"example.com/byhand/kit/events"
	"example.com/byhand/kit/leader"
)

// syncTimeout limits the first lists.
var syncTimeout = 2 * time.Minute

func main() {
	o, err := app.ParseFlags(os.Args[1:])
	app.StartLog(o)
	if err == nil {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		context.AfterFunc(ctx, stop)   // The second signal ends the process.
		signal.Ignore(syscall.SIGPIPE) // The program continues without a reader of stdout (byhand | head).
		err = run(ctx, o, os.Stdout)
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "byhand:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o app.Options, stdout io.Writer) error {
	// observe logs and traces the program, and runs its servers. observe.Queue(kinds.Foo, q) acts like q.
	observe := app.NewView(o, stdout)
	defer observe.Stop()

	// Configuration: the API server, the credentials, and the namespace of the Lease.
	config, namespace, err := connect.Config(o.Connect)
	if err != nil {
		return err
	}

	// Clients: ours for Projects and Foos, client-go's for Deployments, a third for Events.
	client, kube, err := newClients(ctx, observe.Requests(config), observe)
	if err != nil {
		return err
	}
	recorder, stopEvents, err := events.Start(config, "byhand", v1alpha1.AddToScheme)
	if err != nil {
		return connect.ExplainConfig(err)
	}
	defer stopEvents()

	// Queue: the keys of the Foos that wait for a worker.
	queue := observe.Queue(kinds.Foo, controller.NewQueue("foo"))

	// Informers: list and watch → store → handler → queue. No controller acts on Projects.
	projects := informer.NewProjects(client, o.Namespace, o.Resync, cache.ResourceEventHandlerFuncs{})
	foos, deployments := foo.NewInformers(client, kube, o.Namespace, o.Resync, queue)
	observe.Informers(kinds.All, projects, foos, deployments)

	// Reconcile: key → stores → REST calls.
	reconciler := observe.Reconcile(kinds.Foo, &foo.Reconciler{
		Foos:            client.SamplecontrollerV1alpha1(),
		Deployments:     kube.AppsV1(),
		FooStore:        foos.Store,
		DeploymentStore: deployments.Store,
		Events:          recorder,
		Rewrites:        controller.NewRewrites(),
	})

	// Election: one process leads, the others are on standby. Without --leader-elect this one leads at once.
	// A frozen leader may resume after another has taken over, so each reconcile checks that it leads.
	election, err := leader.New(config, namespace, *o.Election, observe.Standby)
	if err != nil {
		return err
	}
	loop := controller.New(queue, election.OnlyWhileLeading(reconciler.Reconcile))

	// Servers: health, metrics and the page.
	if err := observe.Serve(election, foos, deployments); err != nil {
		return err
	}
	return election.Run(ctx, func(ctx context.Context) error {
		return lead(ctx, observe, loop, o.Workers, projects, foos, deployments)
	})
}

// lead runs the informers, then the workers. It returns when ctx is done and the workers have ended.
func lead(ctx context.Context, observe *app.View, loop *controller.Controller, workers int, projects, foos, deployments *informer.Informer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // If the first lists fail, the informers end, too.
	for _, i := range []*informer.Informer{projects, foos, deployments} {
		go i.Run(ctx)
	}
	// No reconcile reads Projects, so no worker waits for them.
	if err := informer.WaitForSync(ctx, syncTimeout, foos, deployments); err != nil {
		return err
	}
	observe.Program(trace.Synced, "in memory: %s, %s", foos, deployments)
	observe.Program(trace.Leader, "%d workers start (Ctrl-C stops)", workers)
	loop.Run(ctx, workers)
	observe.Program(trace.Stopped, "stopped: all workers have finished")
	return nil
}

// newClients returns the clients, or an error if the API server does not serve Foos. If only Projects are missing,
// the program prints a message and continues.
func newClients(ctx context.Context, config *rest.Config, observe *app.View) (*clientset.Clientset, *kubernetes.Clientset, error) {
	client, err := clientset.NewForConfig(config)
	kube, kubeErr := kubernetes.NewForConfig(config)
	if err := cmp.Or(err, kubeErr); err != nil {
		return nil, nil, connect.ExplainConfig(err)
	}
	version, err := connect.Check(ctx, client.Discovery(), config.Host)
	if err == nil {
		err = connect.CheckGroup(ctx, client.Discovery(), config.Host, kinds.Foo.GVK.GroupVersion(), "foos", "foos/status")
	}
	if err != nil {
		return nil, nil, err
	}
	observe.Program(trace.Started, "talking to %s, Kubernetes %s", config.Host, version.GitVersion)
	if err := connect.CheckGroup(ctx, client.Discovery(), config.Host, kinds.Project.GVK.GroupVersion()); err != nil && ctx.Err() == nil {
		observe.Program(trace.Said, "continuing without Projects: %v", err)
	}
	return client, kube, nil
}
