package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/clientset"
	"example.com/byhand/controller"
	core "example.com/byhand/informer"
	"example.com/byhand/internal/connect"
)

const workers, syncTimeout, resync = 8, time.Minute, 10 * time.Minute

// trace says what a part hears and does. --trace prints it; client-go's parts say nothing.
var trace = func(part, format string, args ...any) {}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "kubeconfig `file` (default: $KUBECONFIG, then ~/.kube/config, then the Pod's own account)")
	namespace := flag.String("namespace", "", "the only namespace to look at (default: all)")
	tracing := flag.Bool("trace", false, "print what each part hears and does")
	parts := flag.String("client-go", "", "the `parts` to take from client-go, such as fifo,queue: reflector, fifo, store, queue, and shared, which has its own first three")
	flag.Parse()
	if *tracing {
		began := time.Now()
		trace = func(part, format string, args ...any) {
			fmt.Printf("%8.3fs  %-9s  %s\n", time.Since(began).Seconds(), part, fmt.Sprintf(format, args...))
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first signal a second one ends the process at once.
	context.AfterFunc(ctx, stop)
	if err := run(ctx, *kubeconfig, *namespace, strings.Split(*parts, ",")); err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "informer:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, kubeconfig, namespace string, swapped clientGo) error {
	for _, part := range swapped {
		if !slices.Contains([]string{"", "reflector", "fifo", "store", "shared", "queue"}, part) {
			return fmt.Errorf("--client-go: there is no part %q (see --help)", part)
		}
	}
	config, _, err := connect.Config(connect.Options{Kubeconfig: kubeconfig, QPS: -1})
	if err != nil {
		return err
	}
	client, err := clientset.NewForConfig(config)
	if err != nil {
		return connect.ExplainConfig(err)
	}
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return connect.ExplainConfig(err)
	}
	if _, err := connect.Check(ctx, client.Discovery(), config.Host, v1alpha1.SchemeGroupVersion); err != nil {
		return err
	}

	// Reflector → FIFO → store → handlers → queue → workers, as in the core.
	foos := swapped.informer("foos", listWatch(client.SamplecontrollerV1alpha1().Foos(namespace)), &v1alpha1.Foo{}, resync, core.FooIndexers())
	deployments := swapped.informer("deployments", listWatch(kube.AppsV1().Deployments(namespace)), &appsv1.Deployment{}, resync, core.DeploymentIndexers())
	var queue controller.Queue = NewQueue()
	if slices.Contains(swapped, "queue") {
		queue = controller.NewQueue("foo")
	}
	ofFoos, _ := foos.AddEventHandler(controller.EnqueueObject(queue))
	ofDeployments, _ := deployments.AddEventHandler(controller.EnqueueOwner(v1alpha1.Kind("Foo"), core.FoosNaming(foos.GetIndexer()))(queue))
	reconciler := &controller.FooReconciler{
		Foos: client.SamplecontrollerV1alpha1(), Deployments: kube.AppsV1(),
		FooStore: foos.GetIndexer(), DeploymentStore: deployments.GetIndexer(),
		Events: &record.FakeRecorder{},
	}

	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() { foos.RunWithContext(ctx) })
	running.Go(func() { deployments.RunWithContext(ctx) })
	first, stop := context.WithTimeout(ctx, syncTimeout)
	defer stop()
	if !cache.WaitFor(first, "", ofFoos.HasSyncedChecker(), ofDeployments.HasSyncedChecker()) {
		return fmt.Errorf("the handlers were not called for the whole first list after %s", syncTimeout)
	}
	fmt.Printf("ready: %d Foos, %d Deployments (Ctrl-C stops)\n", len(foos.GetIndexer().List()), len(deployments.GetIndexer().List()))
	controller.New(queue, reconciler.Reconcile).Run(ctx, workers)
	fmt.Println("stopped: every worker has finished what it had begun")
	return nil
}

// listWatch sends the requests of a Reflector.
func listWatch[L runtime.Object](client interface {
	List(context.Context, metav1.ListOptions) (L, error)
	Watch(context.Context, metav1.ListOptions) (watch.Interface, error)
}) *cache.ListWatch {
	return &cache.ListWatch{WatchFuncWithContext: client.Watch,
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return client.List(ctx, options)
		}}
}

// clientGo are the parts that are client-go's.
type clientGo []string

func (swapped clientGo) informer(resource string, lw *cache.ListWatch, example runtime.Object, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
	if slices.Contains(swapped, "shared") {
		return cache.NewSharedIndexInformer(lw, example, resync, indexers)
	}
	i := &Informer{store: NewStore(indexers), fifo: NewFIFO(), resync: resync}
	if slices.Contains(swapped, "store") {
		i.store = cache.NewIndexer(keyOf, indexers)
	}
	if slices.Contains(swapped, "fifo") {
		i.fifo = cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{AtomicEvents: true, UnlockWhileProcessing: true, EmitDeltaTypeBookmark: true})
	}
	i.reflect = (&Reflector{Resource: resource, ListWatch: lw, FIFO: i.fifo}).Run
	if slices.Contains(swapped, "reflector") {
		i.reflect = cache.NewReflector(lw, example, i.fifo, 0).RunWithContext
	}
	return i
}
