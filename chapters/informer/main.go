package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/clientset"
	"example.com/byhand/controller"
	reconcile "example.com/byhand/controller/foo"
	core "example.com/byhand/informer"
	"example.com/byhand/kit/connect"
)

const workers, resync = 8, 10 * time.Minute

func main() {
	kubeconfig := flag.String("kubeconfig", "", "kubeconfig `file` (default: $KUBECONFIG, then ~/.kube/config, then the Pod's own account)")
	namespace := flag.String("namespace", "", "the only namespace to watch (default: all)")
	parts := flag.String("client-go", "", "the `parts` to take from client-go, such as fifo,queue: reflector, fifo, store, queue, and shared, which includes its own first three")
	klog.InitFlags(nil) // with -v=1 each part logs its steps with klog.V(1)
	flag.Parse()
	log.SetFlags(0)
	unknown := sets.New(strings.Split(*parts, ",")...).Delete("", "reflector", "fifo", "store", "shared", "queue")
	if len(unknown) > 0 {
		log.Fatalf("informer: --client-go: unknown part %q (see --help)", unknown.UnsortedList())
	}
	config, _, err := connect.Config(connect.Options{Kubeconfig: *kubeconfig, QPS: -1})
	if err != nil {
		log.Fatalln("informer:", err)
	}
	crs, kube := clientset.NewForConfigOrDie(config).SamplecontrollerV1alpha1(), kubernetes.NewForConfigOrDie(config).AppsV1()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first signal, a second one ends the process at once.
	context.AfterFunc(ctx, stop)

	swapped := clientGo(*parts)
	foos := swapped.informer("foos", cache.NewListWatchFromClient(crs.RESTClient(), "foos", *namespace, fields.Everything()), &v1alpha1.Foo{}, resync, core.FooIndexers())
	deployments := swapped.informer("deployments", cache.NewListWatchFromClient(kube.RESTClient(), "deployments", *namespace, fields.Everything()), &appsv1.Deployment{}, resync, core.DeploymentIndexers())
	var queue controller.Queue = NewQueue()
	if swapped.has("queue") {
		queue = controller.NewQueue("foo")
	}
	ofFoos, _ := foos.AddEventHandler(controller.EnqueueObject(queue))
	ofDeployments, _ := deployments.AddEventHandler(controller.EnqueueOwner(queue, v1alpha1.Kind("Foo"), core.FoosNaming(foos.GetIndexer())))
	reconciler := &reconcile.Reconciler{
		Foos: crs, Deployments: kube, FooStore: foos.GetIndexer(), DeploymentStore: deployments.GetIndexer(),
		Events: &events.FakeRecorder{}, Rewrites: controller.NewRewrites(),
	}

	var running sync.WaitGroup
	running.Go(func() { foos.RunWithContext(ctx) })
	running.Go(func() { deployments.RunWithContext(ctx) })
	if cache.WaitFor(ctx, "", ofFoos.HasSyncedChecker(), ofDeployments.HasSyncedChecker()) {
		fmt.Printf("ready: %d Foos, %d Deployments (Ctrl-C stops)\n", len(foos.GetIndexer().List()), len(deployments.GetIndexer().List()))
		controller.New(queue, reconciler.Reconcile).Run(ctx, workers)
	}
	running.Wait()
}

type clientGo string

func (swapped clientGo) has(part string) bool { return strings.Contains(string(swapped), part) }

func (swapped clientGo) informer(resource string, lw *cache.ListWatch, example runtime.Object, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
	if swapped.has("shared") {
		return cache.NewSharedIndexInformer(lw, example, resync, indexers)
	}
	i := &Informer{store: NewStore(indexers), fifo: &FIFO{}, resync: resync}
	if swapped.has("store") {
		i.store = cache.NewIndexer(cache.MetaNamespaceKeyFunc, indexers)
	}
	if swapped.has("fifo") {
		i.fifo = cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{AtomicEvents: true, UnlockWhileProcessing: true, EmitDeltaTypeBookmark: true})
	}
	i.reflect = (&Reflector{Resource: resource, Example: example, ListWatch: lw, FIFO: i.fifo}).Run
	if swapped.has("reflector") {
		i.reflect = cache.NewReflector(lw, example, i.fifo, 0).RunWithContext
	}
	return i
}
