package lab

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/clientset"
	"example.com/byhand/controller"
	"example.com/byhand/controller/foo"
	"example.com/byhand/informer"
	"example.com/byhand/internal/observe/kinds"
	"example.com/byhand/internal/observe/observer"
	"example.com/byhand/internal/observe/trace"
	"example.com/byhand/kit/events"
	"example.com/byhand/kit/leader"
	"example.com/byhand/kit/testkit"
)

const (
	workers = 4
	resync  = 10 * time.Minute
)

// election has main's Lease with shorter times: a visitor waits for it. A busy browser must not lose
// it.
var election = leader.Options{Elect: true, LeaseDuration: 8 * time.Second, RenewDeadline: 7 * time.Second, RetryPeriod: time.Second,
	Name: "byhand", Namespace: metav1.NamespaceDefault}

// lease is the path of the Lease of election.
const lease = "/apis/coordination.k8s.io/v1/namespaces/default/leases/byhand"

// errKilled is why a killed process ended.
var errKilled = errors.New("this process was killed")

type replica struct {
	name    string
	bug     string
	observe *observer.Observer
	server  http.Handler

	alive context.Context // ends with the process; its cause is why it ended
	exit  context.CancelCauseFunc
	store atomic.Pointer[cache.Indexer] // has its Deployments
	// onLead is called when the replica becomes leader.
	onLead func()
}

// ServeHTTP forwards the requests of a live process.
func (r *replica) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if r.alive.Err() != nil {
		panic(http.ErrAbortHandler)
	}
	ctx, cancel := context.WithCancel(request.Context())
	defer cancel()
	defer context.AfterFunc(r.alive, cancel)()
	r.server.ServeHTTP(w, request.WithContext(ctx))
}

// configFor returns the configuration of a named client for a server that is a handler.
func configFor(name string, server http.Handler) *rest.Config {
	return &rest.Config{Host: "http://api.playground", UserAgent: name, Transport: testkit.Transport{Handler: server}, QPS: -1}
}

// run is main.go's run: the same parts in the same order, and perhaps a bug. It returns when the
// process is killed, or has lost the Lease.
func (r *replica) run() error {
	config := configFor(r.name, r)
	recorder, stopEvents, err := events.Start(config, "byhand", v1alpha1.AddToScheme)
	if err != nil {
		return err
	}
	defer stopEvents()
	observed := r.observe.Requests(config)
	client, kubeClient := clientset.NewForConfigOrDie(observed), kubernetes.NewForConfigOrDie(observed)

	queue := r.observe.Queue(kinds.Foo, controller.NewQueue("foo"))
	defer queue.ShutDown() // A process that never led has no worker to shut it down.
	projects := informer.NewProjects(client, "", resync, cache.ResourceEventHandlerFuncs{})
	foos, deployments := foo.NewInformers(client, kubeClient, "", resync, queue)
	switch r.bug {
	case deafToNames:
		deployments.Handler.ResourceEventHandler = controller.EnqueueOwner(queue, v1alpha1.Kind("Foo"))
	case deafToDeletion:
		deployments.Handler.ResourceEventHandler = deaf{deployments.Handler.ResourceEventHandler, r.observe}
	}
	deploymentStore := deployments.Store
	r.store.Store(&deployments.Store)
	if r.bug == noRename {
		deploymentStore = forgetful{deploymentStore}
	}
	reconciler := &foo.Reconciler{
		Foos:            client.SamplecontrollerV1alpha1(),
		Deployments:     wrong{DeploymentsGetter: kubeClient.AppsV1(), bug: r.bug},
		FooStore:        foos.Store,
		DeploymentStore: deploymentStore,
		Events:          recorder,
		Rewrites:        controller.NewRewrites(),
	}
	var reconciles observer.Reconciler = reconciler
	if r.bug == edgeTriggered {
		edges := &edges{ResourceEventHandler: foos.Handler.ResourceEventHandler, Reconciler: reconciler}
		foos.Handler.ResourceEventHandler, reconciles = edges, edges
	}
	r.observe.Informers(kinds.All, projects, foos, deployments)
	reconcile := r.observe.Reconcile(kinds.Foo, reconciles).Reconcile

	elected, err := leader.New(config, metav1.NamespaceDefault, election, func(string) {})
	if err != nil {
		return err
	}
	loop := controller.New(queue, elected.OnlyWhileLeading(r.spoil(reconcile)))
	err = elected.Run(r.alive, func(ctx context.Context) error {
		r.onLead()
		return r.lead(ctx, loop, foos, deployments, projects)
	})
	if errors.Is(err, leader.ErrLost) {
		r.observe.Program(trace.Lost, "%v", err)
	}
	return err
}

// lead is main.go's lead. No worker waits for the last informer.
func (r *replica) lead(ctx context.Context, loop *controller.Controller, informers ...*informer.Informer) error {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	for _, i := range informers {
		running.Go(func() { i.Run(ctx) })
	}
	if err := informer.WaitForSync(ctx, time.Minute, informers[0], informers[1]); err != nil {
		return err
	}
	r.observe.Program(trace.Leader, "%s has taken the Lease: %d workers start", r.name, workers)
	loop.Run(ctx, workers)
	return nil
}
