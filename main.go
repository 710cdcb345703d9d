// Command byhand runs a controller without generated code: it keeps Projects and
// Foos in memory and gives each Foo its Deployment.
//
//	go run main.go --kubeconfig FILE
//
// This file only wires, from top to bottom in the order in which data flows:
// flags → configuration → clients → queue → informers → controller.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"

	examplesv1alpha1 "example.com/byhand/api/examples-gzh.com/v1alpha1"
	samplecontrollerv1alpha1 "example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/clientset"
	"example.com/byhand/controller"
	"example.com/byhand/informer"
	"example.com/byhand/internal/connect"
	"example.com/byhand/internal/leader"
	"example.com/byhand/internal/metrics"
	"example.com/byhand/internal/page"
	"example.com/byhand/internal/serve"
	"example.com/byhand/internal/story"
	"example.com/byhand/internal/trace"
)

const (
	// syncTimeout is how long the first lists may take.
	syncTimeout = time.Minute
	// Events have a client of their own that sends at most this many per second, so
	// that they never delay a write. What the recorder cannot hold back is dropped.
	eventQPS, eventBurst = 10, 50
)

type options struct {
	kubeconfig, context, namespace string
	listen, page, replay           string
	workers, burst                 int
	qps                            float64
	resync                         time.Duration
	pprof, pageRemote              bool
	trace                          trace.Flag
	election                       *leader.Options
}

func main() {
	var o options
	flag.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig `file` (default: $KUBECONFIG, then ~/.kube/config, then the Pod's own account)")
	flag.StringVar(&o.context, "context", "", "context of the kubeconfig (default: its current one)")
	flag.StringVar(&o.namespace, "namespace", metav1.NamespaceAll, "the only namespace to look at (default: all)")
	flag.IntVar(&o.workers, "workers", 8, "Foos to reconcile at the same time")
	flag.Float64Var(&o.qps, "kube-api-qps", -1, "requests per second to the API server, without events and the Lease; negative: no limit, the server shares itself out")
	flag.IntVar(&o.burst, "kube-api-burst", 100, "requests that may exceed --kube-api-qps for a moment")
	flag.DurationVar(&o.resync, "resync", 10*time.Minute, "how often to look at each object again without an event; 0: never")
	flag.StringVar(&o.listen, "listen", "127.0.0.1:0", "`host:port` of /healthz, /readyz and /metrics; port 0: any free one; no host: every interface")
	flag.BoolVar(&o.pprof, "pprof", false, "serve /debug/pprof/, too, to whoever reaches --listen")
	flag.Var(&o.trace, "trace", "print every step instead of the story: of all, of one Foo (--trace=default/example-foo), or as lines of JSON (--trace=json)")
	flag.StringVar(&o.page, "page", "", "`host:port` of a page in which every step can be watched; port 0: any free one")
	flag.BoolVar(&o.pageRemote, "page-remote", false, "let --page listen where other machines reach it")
	flag.StringVar(&o.replay, "replay", "", "show a recording, a `file` of --trace=json, in the page; needs no cluster")
	o.election = leader.Flags(flag.CommandLine)
	verbosity := flag.Int("v", 0, "how much to log to stderr: 2 shows retries, 6 each request, 8 bodies")
	flag.Parse()

	logging := flag.NewFlagSet("klog", flag.PanicOnError)
	klog.InitFlags(logging)
	_ = logging.Set("v", strconv.Itoa(*verbosity))

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first signal a second one ends the process at once.
	context.AfterFunc(ctx, stop)

	if err := run(ctx, o); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "byhand:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	if flag.NArg() > 0 || o.workers < 1 || o.qps == 0 || o.qps > 0 && o.burst < 1 || o.resync < 0 {
		return errors.New("usage: no arguments (what --trace is to show stands behind its =), --workers at least 1, --kube-api-qps not 0 (negative for no limit), --kube-api-burst at least 1, --resync not negative (see --help)")
	}

	if o.replay != "" {
		return page.Play(ctx, o.replay, cmp.Or(o.page, "127.0.0.1:0"), o.pageRemote, story.New(os.Stdout).Say)
	}

	// Before everything that is counted.
	counts := metrics.New()

	// Configuration: which server, and as whom. The order is kubectl's.
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = o.kubeconfig
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: o.context})
	config, err := loader.ClientConfig()
	if err != nil {
		return connect.ExplainConfig(err)
	}
	if o.election.Namespace == "" {
		o.election.Namespace, _, _ = loader.Namespace()
	}
	config.UserAgent = "byhand"
	// The clients of the Lease and of the events are not part of the story. A renewal
	// must not wait for other requests.
	leaseConfig, eventConfig := rest.CopyConfig(config), rest.CopyConfig(config)
	leaseConfig.QPS = -1
	eventConfig.QPS, eventConfig.Burst = eventQPS, eventBurst
	connect.Limit(config, o.qps, o.burst)
	// What is told: a story, or every step, on stdout and on a page. A nil tracer is
	// off.
	var tracer *trace.Recorder
	teller := story.New(os.Stdout)
	if o.trace.On() || o.page != "" {
		tracer = trace.New(trace.Options{})
		defer tracer.Close()
	}
	if o.trace.On() {
		teller = story.New(io.Discard)
		tracer.Print(o.trace, os.Stdout)
	}
	say := func(what, format string, args ...any) {
		teller.Say(format, args...)
		tracer.Program(what, format, args...)
	}
	var running sync.WaitGroup
	defer running.Wait()
	serving, stopServing := context.WithCancel(context.Background())
	defer stopServing()
	if o.page != "" {
		shown, err := page.Listen(o.page, page.Live(tracer), page.Options{Remote: o.pageRemote})
		if err != nil {
			return fmt.Errorf("--page: %w", err)
		}
		say(trace.Said, "a page to watch it on: %s", shown.URL)
		running.Go(func() { _ = shown.Run(serving) })
	}
	config.Wrap(teller.Transport)
	config.Wrap(tracer.Transport)

	// Clients: ours for Projects and Foos, client-go's for Deployments and Events.
	client, err := clientset.NewForConfig(config)
	if err != nil {
		return connect.ExplainConfig(err)
	}
	kubeClient, err := kubernetes.NewForConfig(config)
	if err != nil {
		return connect.ExplainConfig(err)
	}
	eventClient, err := kubernetes.NewForConfig(eventConfig)
	if err != nil {
		return connect.ExplainConfig(err)
	}
	election, err := leader.New(leaseConfig, *o.election, func(leader string, me bool) {
		if !me {
			say(trace.Standby, "standing by: %s is the leader", leader)
		}
	})
	if err != nil {
		return err
	}
	version, err := connect.Check(ctx, client.Discovery(), config.Host,
		examplesv1alpha1.SchemeGroupVersion, samplecontrollerv1alpha1.SchemeGroupVersion)
	if err != nil {
		return err
	}
	say(trace.Started, "talking to %s, Kubernetes %s", config.Host, version.GitVersion)

	// Not bound to ctx: workers that finish after a signal still have something to say.
	events := record.NewBroadcaster()
	defer events.Shutdown()
	events.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: eventClient.CoreV1().Events("")})

	// Queue → informers, whose handlers fill it → controller, which empties it.
	queue := tracer.Queue(controller.NewPriorityQueue("foo"))
	projects := informer.NewProjects(client, o.namespace, o.resync,
		story.Handler(teller, "Project", story.DescribeProject, tracer.Handler("Project", queue, nil)))
	foos := informer.NewFoos(client, o.namespace, o.resync,
		story.Handler(teller, "Foo", story.DescribeFoo, tracer.Handler("Foo", queue, func(queue controller.PriorityQueue) cache.ResourceEventHandler {
			return controller.WithLowPriorityWhenUnchanged(queue, controller.EnqueueObject)
		})))
	ofDeployments := func(queue controller.Queue) cache.ResourceEventHandler {
		return controller.EnqueueOwner(queue, samplecontrollerv1alpha1.Kind("Foo"), informer.FoosNaming(foos.Store))
	}
	deployments := informer.NewDeployments(kubeClient, o.namespace, o.resync,
		story.Handler(teller, "Deployment", story.DescribeDeployment, tracer.Handler("Deployment", queue,
			func(queue controller.PriorityQueue) cache.ResourceEventHandler {
				return controller.WithLowPriorityWhenUnchanged(queue, ofDeployments)
			})))
	reconciler := &controller.FooReconciler{
		Foos:            client.SamplecontrollerV1alpha1(),
		Deployments:     kubeClient.AppsV1(),
		FooStore:        foos.Store,
		DeploymentStore: deployments.Store,
		Events:          events.NewRecorder(clientset.Scheme, corev1.EventSource{Component: "byhand"}),
	}

	informers := []*informer.Informer{projects, foos, deployments}

	// Health, readiness and metrics, until the last worker has finished.
	counts.Informers(informers...)
	server, err := serve.Listen(o.listen, serve.Options{
		Healthy: []serve.Check{{Name: "leader-election", Err: election.Healthy}},
		Ready:   serve.Synced(informers...),
		Metrics: counts.Handler(),
		Pprof:   o.pprof,
	})
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	say(trace.Said, "health and metrics at %s", server.URL)

	// Run: informers first, then the workers, and the end in the opposite order.
	running.Go(func() { _ = server.Run(serving) })
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, i := range informers {
		running.Go(func() { i.Run(ctx) })
	}
	if err := informer.WaitForSync(ctx, syncTimeout, informers...); err != nil {
		return err
	}
	say(trace.Synced, "in memory: %d Projects, %d Foos, %d Deployments",
		len(projects.Store.ListKeys()), len(foos.Store.ListKeys()), len(deployments.Store.ListKeys()))

	// One replica works, the others stand by with their stores kept up to date.
	workers := controller.New(queue, counts.Reconcile("foo", o.workers, tracer.Reconcile(election.Guard(teller.Reconcile(reconciler.Reconcile)))))
	err = election.Run(ctx, func(ctx context.Context) {
		say(trace.Leader, "%d workers start (Ctrl-C stops)", o.workers)
		workers.Run(ctx, o.workers)
		say(trace.Stopped, "stopped: every worker has finished what it had begun")
	})
	if errors.Is(err, leader.ErrLost) {
		tracer.Program(trace.Lost, "%v", err)
	}
	return err
}
