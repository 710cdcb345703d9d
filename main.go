// Command byhand runs a controller without generated code: it keeps Projects and
// Foos in memory and gives each Foo its Deployment.
//
//	go run main.go --kubeconfig FILE
//
// run wires the picture of the README in the order in which data flows. What follows, from
// newClients on, is for reference.
//
// # The start
//
// With --leader-elect, a process that stands by has asked the API server for its version and its
// kinds, and from then on sends nothing but the requests for its Lease. Then it is ready. It
// starts its informers when it leads: their first lists are the newest, and show all that the
// leader before it wrote. A leader that was cut off or frozen begins no reconcile once another can
// have the Lease. One that had begun goes on, for 30 s at most. kit/leader has the rest.
//
// # The end
//
// SIGTERM and Ctrl-C end the program in this order. Each step but 2 and 3 takes a second at most:
//
//  1. The context of run is done. The informers stop, and no worker takes another key.
//  2. A worker finishes the reconcile that it has begun, in 30 s at most.
//  3. With --leader-elect, the Lease is released, so that another process takes it at its next
//     try, within seconds. An API server that does not answer may delay this for 10 s. If the Lease is
//     lost before, the program ends at once, with code 1.
//  4. The Events that were recorded are handed to their sender. The last ones may be lost.
//  5. The servers answer what they have begun.
//
// A second signal ends the process at once. The others then wait until the Lease expires.
//
// --help lists the flags and the exit codes.
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
	"sync"
	"syscall"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"

	"example.com/byhand/clientset"
	"example.com/byhand/controller"
	"example.com/byhand/controller/foo"
	"example.com/byhand/informer"
	"example.com/byhand/internal/events"
	"example.com/byhand/internal/kinds"
	"example.com/byhand/internal/observer"
	"example.com/byhand/internal/page"
	"example.com/byhand/internal/trace"
	"example.com/byhand/kit/connect"
	"example.com/byhand/kit/leader"
	"example.com/byhand/kit/metrics"
	"example.com/byhand/kit/serve"
)

// syncTimeout is how long the first lists may make no progress. As long as they make some, they
// may take any time. A test has less.
var syncTimeout = time.Minute

func main() {
	o, err := parseFlags(os.Args[1:])
	log := newLog(o.verbosity)
	if err == nil {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		// After the first signal a second one ends the process at once.
		context.AfterFunc(ctx, stop)
		// If the reader of stdout ends (byhand | head), the program goes on.
		signal.Ignore(syscall.SIGPIPE)
		err = run(ctx, o, os.Stdout)
	}
	log.Flush()
	if err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "byhand:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options, stdout io.Writer) error {
	// observe shows people each step, and changes none: read observe.Queue(kinds.Foo, queue) as
	// queue. say tells them what this process does.
	observe := newView(o, stdout)
	defer observe.stop()
	say := observe.Program

	// Configuration: which API server, and as whom. The namespace is for the Lease.
	config, namespace, err := connect.Config(o.connect)
	if err != nil {
		return err
	}

	// Clients: ours for Projects and Foos, client-go's for Deployments, one more for Events.
	recorder, stopEvents, err := events.Start(config, "byhand")
	if err != nil {
		return connect.ExplainConfig(err)
	}
	defer stopEvents()
	client, kubeClient, err := newClients(ctx, observe.Requests(config), say)
	if err != nil {
		return err
	}

	// Queue: the keys of the Foos that wait for a worker.
	queue := observe.Queue(kinds.Foo, controller.NewPriorityQueue("foo"))

	// Informers: list + watch → store → handler → queue. Nothing acts on a Project.
	projects := informer.NewProjects(client, o.namespace, o.resync, cache.ResourceEventHandlerFuncs{})
	foos, deployments := foo.NewInformers(client, kubeClient, o.namespace, o.resync, queue)

	// Reconciler: key → stores → REST calls.
	reconciler := &foo.Reconciler{
		Foos:            client.SamplecontrollerV1alpha1(),
		Deployments:     kubeClient.AppsV1(),
		FooStore:        foos.Store,
		DeploymentStore: deployments.Store,
		Events:          recorder,
		Failures:        controller.NewFailures(),
	}

	// Loops: one for each kind that is reconciled, and the informers whose stores a reconcile reads.
	loops := []loop{{kinds.Foo, queue, reconciler}}
	read := []*informer.Informer{foos, deployments}
	informers := append(read, projects)

	// Run: one process leads, the others stand by; without --leader-elect this one leads at
	// once. Everything ends with ctx.
	election, err := leader.New(config, namespace, *o.election, func(leader string) {
		say(trace.Standby, "standing by: %s is the leader", leader)
	})
	if err != nil {
		return err
	}
	if err := observe.serve(o, election, loops, read, informers); err != nil {
		return err
	}
	return election.Run(ctx, func(ctx context.Context) error {
		return lead(ctx, say, election, o.workers, loops, read, informers)
	})
}

// loop is what a kind needs to be reconciled.
type loop struct {
	kind       observer.Kind
	queue      controller.Queue
	reconciler observer.Reconciler
}

// lead does what only the leader does. It returns when ctx is done, and the informers and the
// workers have ended.
func lead(ctx context.Context, say func(what, format string, args ...any), election *leader.Election, workers int, loops []loop, read, informers []*informer.Informer) error {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	for _, i := range informers {
		running.Go(func() { i.Run(ctx) })
	}
	// No worker waits for what no reconcile reads.
	if err := informer.WaitForSync(ctx, syncTimeout, read...); err != nil {
		return err
	}
	say(trace.Synced, "in memory: %v", read)
	say(trace.Leader, "%d workers start (Ctrl-C stops)", workers*len(loops))
	for _, l := range loops {
		// A leader that was frozen may wake with one watch behind the other: each reconcile first
		// looks whether this process still leads.
		loop := controller.New(l.queue, election.OnlyWhileLeading(l.reconciler.Reconcile))
		running.Go(func() { loop.Run(ctx, workers) })
	}
	running.Wait() // All end with ctx.
	say(trace.Stopped, "stopped: every worker has finished what it had begun")
	return nil
}

// newClients returns the clients. The API server has answered, and has Foos. Nothing acts on
// Projects: without them the program goes on, and says so.
func newClients(ctx context.Context, config *rest.Config, say func(what, format string, args ...any)) (*clientset.Clientset, *kubernetes.Clientset, error) {
	client, err := clientset.NewForConfig(config)
	kubeClient, kubeErr := kubernetes.NewForConfig(config)
	if err := cmp.Or(err, kubeErr); err != nil {
		return nil, nil, connect.ExplainConfig(err)
	}
	version, err := connect.Check(ctx, client.Discovery(), config.Host, kinds.Foo.GVK.GroupVersion())
	if err != nil {
		return nil, nil, err
	}
	say(trace.Started, "talking to %s, Kubernetes %s", config.Host, version.GitVersion)
	if err := connect.CheckGroup(ctx, client.Discovery(), config.Host, kinds.Project.GVK.GroupVersion()); err != nil && ctx.Err() == nil {
		say(trace.Said, "going on without Projects: %v", err)
	}
	return client, kubeClient, nil
}

// view is what shows the program: the observer, which prints to stdout, and the servers.
type view struct {
	*observer.Observer
	measured *metrics.Metrics
	ctx      context.Context // of the servers
	cancel   context.CancelFunc
	serving  sync.WaitGroup
}

func newView(o options, stdout io.Writer) *view {
	v := &view{measured: metrics.New()}
	v.Observer = observer.New(observer.Options{All: o.trace.On() || o.page != "", Count: v.measured.Step})
	v.Print(o.trace, stdout)
	v.ctx, v.cancel = context.WithCancel(context.Background())
	return v
}

// stop ends the view after its last steps, and waits for answers that have begun.
func (v *view) stop() {
	v.Close() // The page gets the last steps.
	v.cancel()
	v.serving.Wait()
}

// serve has the informers and the reconciles observed and counted. It serves health, readiness and
// metrics, and the page if there is to be one, and prints their addresses.
//
// A process that stands by is ready when it takes part in the election: otherwise a rollout
// would wait for a second leader. The leader is ready when its stores are in sync and none
// has been blind for a minute. Nothing acts on the others, so they do not count: the log
// and the metric informer_ready show what they lack.
func (v *view) serve(o options, election *leader.Election, loops []loop, read, informers []*informer.Informer) error {
	ready := []serve.Check{{Name: "leader-election", Err: election.Joined}}
	for _, i := range read {
		ready = append(ready, serve.Check{Name: "informer/" + i.Resource, Err: election.WhileLeading(i.Ready)})
	}
	v.Informers(kinds.All, informers...)
	v.measured.Informers(informers...)
	for i, l := range loops {
		loops[i].reconciler = v.Reconcile(l.kind, l.reconciler)
		v.measured.Workers(l.kind.GVK.Kind, o.workers)
	}
	health, err := serve.Listen(o.listen, true, serve.Health(serve.Options{
		Healthy: []serve.Check{{Name: "leader-election", Err: election.Healthy}},
		Ready:   ready,
		Metrics: v.measured.Handler(),
		Pprof:   o.pprof,
	}))
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	v.Program(trace.Said, "health and metrics at %s", health.URL)
	v.serving.Go(func() { _ = health.Run(v.ctx) })
	if o.page == "" {
		return nil
	}
	server, err := page.Listen(o.page, v.History, page.Options{Remote: o.pageRemote, Shell: connect.Shell(o.connect.Kubeconfig)})
	if err != nil {
		return fmt.Errorf("--page: %w", err)
	}
	v.Program(trace.Said, "a page to watch it on: %s", server.URL)
	v.serving.Go(func() { _ = server.Run(v.ctx) })
	return nil
}

type options struct {
	connect                 connect.Options
	namespace, listen, page string
	workers, verbosity      int
	resync                  time.Duration
	pprof, pageRemote       bool
	trace                   observer.Flag
	election                *leader.Options
}

// parseFlags reads and checks the flags. Those that cannot be parsed end the process.
func parseFlags(args []string) (o options, err error) {
	flags := flag.NewFlagSet("byhand", flag.ExitOnError)
	flags.StringVar(&o.connect.Kubeconfig, "kubeconfig", "", "kubeconfig `file` (default: $KUBECONFIG, then ~/.kube/config, then the Pod's own account)")
	flags.StringVar(&o.connect.Context, "context", "", "`name` of a context of the kubeconfig (default: its current one)")
	flags.StringVar(&o.namespace, "namespace", "", "`name` of the only namespace to look at (default: all)")
	flags.IntVar(&o.workers, "workers", 16, "Foos to reconcile at the same time, and half as many more that were slow or have failed")
	flags.Float64Var(&o.connect.QPS, "kube-api-qps", -1, "requests per second to the API server, without Events and the Lease: half of --workers at least, else some wait longer than a reconcile may take; negative: no limit but the server's own")
	flags.IntVar(&o.connect.Burst, "kube-api-burst", 100, "requests that may exceed --kube-api-qps for a moment")
	flags.DurationVar(&o.resync, "resync", 10*time.Minute, "how often to reconcile each object without an event, such as 90s or 1h; 0: never")
	flags.StringVar(&o.listen, "listen", "127.0.0.1:0", "`host:port` of /healthz, /readyz and /metrics, such as :8081; port 0: any free one; no host: every interface")
	flags.BoolVar(&o.pprof, "pprof", false, "serve /debug/pprof/ as well, to every program that can reach --listen")
	flags.BoolFunc("trace", "print every step instead of the story: of all, of one Foo (--trace=default/example-foo), or as lines of JSON (--trace=json)", o.trace.Set)
	flags.StringVar(&o.page, "page", "", "`host:port` of a page in which every step can be watched, such as 127.0.0.1:8080; port 0: any free one")
	flags.BoolVar(&o.pageRemote, "page-remote", false, "let --page listen where other machines reach it")
	o.election = leader.Flags(flags)
	flags.IntVar(&o.verbosity, "v", 0, "how much to log to stderr: 2 shows retries, 6 each request, 8 bodies")
	flags.Usage = func() {
		fmt.Fprintln(flags.Output(), "usage: byhand [flags]\nIt runs until Ctrl-C. Exit code 0: it was told to end, or asked for --help. 1: an error, stderr says what to do. 2: a flag that does not exist or cannot be read.")
		flags.PrintDefaults()
	}
	_ = flags.Parse(args)

	for want, ok := range map[string]bool{
		"give flags only, and what --trace is to show behind its =": flags.NArg() == 0,
		"--workers must be at least 1":                              o.workers > 0,
		"--kube-api-qps must not be 0: negative is no limit":        o.connect.QPS != 0,
		"--kube-api-burst must be at least 1":                       o.connect.QPS < 0 || o.connect.Burst > 0,
		"--resync must not be negative: 0 is never":                 o.resync >= 0,
	} {
		if !ok {
			err = fmt.Errorf("usage: %s (see --help)", want)
		}
	}
	return o, err
}

// newLog lets client-go, which logs with klog, and net/http log to stderr. The program goes on
// if the reader of stderr ends.
func newLog(verbosity int) *observer.Log {
	_ = new(klog.Level).Set(fmt.Sprint(verbosity))
	log := observer.NewLog(os.Stderr)
	klog.SetLoggerWithOptions(textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(log), textlogger.Verbosity(verbosity))), klog.ContextualLogger(true))
	klog.CopyStandardLogTo("WARNING")
	return log
}
