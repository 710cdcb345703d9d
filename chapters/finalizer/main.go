package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"

	"example.com/byhand/api/examples-gzh.com/v1alpha1"
	"example.com/byhand/clientset"
	"example.com/byhand/controller"
	"example.com/byhand/informer"
	"example.com/byhand/internal/observe/observer"
	"example.com/byhand/internal/observe/trace"
	"example.com/byhand/kit/connect"
)

const (
	workers     = 8
	syncTimeout = time.Minute
	resync      = 10 * time.Minute
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "kubeconfig `file` (default: $KUBECONFIG, then ~/.kube/config, then the Pod's own account)")
	var o options
	flag.StringVar(&o.store, "store", "", "the `directory` of the volumes, such as bin/volumes. It belongs to one cluster: volumes of Projects that the cluster does not have are deleted")
	flag.StringVar(&o.namespace, "namespace", metav1.NamespaceAll, "the only namespace to watch (default: all)")
	flag.IntVar(&o.maxVolumes, "max-volumes", 1000, "maximum number of volumes per Project")
	flag.BoolFunc("trace", "print every step instead of the log: for all Projects, for one (--trace=default/example-project), or as JSON lines (--trace=json)", o.trace.Set)
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first signal, a second one ends the process at once.
	context.AfterFunc(ctx, stop)
	config, _, err := connect.Config(connect.Options{Kubeconfig: *kubeconfig, QPS: -1}) // no client-side rate limit
	if flag.NArg() > 0 {
		err = errors.New("usage: no arguments are allowed; write --trace=WHAT (see --help)")
	}
	if err == nil {
		err = run(ctx, config, o)
	}
	if err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "finalizer:", err)
		os.Exit(1)
	}
}

type options struct {
	store, namespace string
	maxVolumes       int
	trace            observer.Flag
}

func run(ctx context.Context, config *rest.Config, o options) error {
	if o.store == "" || o.maxVolumes < 1 {
		return errors.New("usage: --store DIR for the volumes, --max-volumes at least 1 (see --help)")
	}
	observe := observer.New(observer.Options{All: o.trace.On()})
	observe.Print(o.trace, os.Stdout)
	defer observe.Close()

	// Clients and storage.
	client, err := clientset.NewForConfig(observe.Requests(config))
	if err != nil {
		return connect.ExplainConfig(err)
	}
	events := record.NewBroadcaster()
	events.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: kubernetes.NewForConfigOrDie(config).CoreV1().Events("")})
	defer events.Shutdown()
	if _, err := connect.Check(ctx, client.Discovery(), config.Host, v1alpha1.SchemeGroupVersion); err != nil {
		return err
	}
	volumes, err := newDirectory(o.store)
	if err != nil {
		return err
	}

	// Informer → queue → reconciler.
	queue := observe.Queue(project, controller.NewQueue("project"))
	projects := informer.NewProjects(client, o.namespace, resync, controller.EnqueueObject(queue))
	observe.Informers([]observer.Kind{project}, projects)
	reconciler := &projectReconciler{
		projects:     client.ExamplesV1alpha1(),
		projectStore: projects.Store,
		storage:      volumes,
		maxVolumes:   o.maxVolumes,
		events:       events.NewRecorder(clientset.Scheme, corev1.EventSource{Component: "finalizer"}),
	}
	projectController := controller.New(queue, observe.Reconcile(project, reconciler).Reconcile)

	// Run the informer, then the workers and the sweeps, until ctx is done.
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() { projects.Run(ctx) })
	if err := informer.WaitForSync(ctx, syncTimeout, projects); err != nil {
		return err
	}
	running.Go(func() {
		wait.UntilWithContext(ctx, func(ctx context.Context) {
			if err := reconciler.sweep(ctx); err != nil && ctx.Err() == nil {
				klog.FromContext(ctx).Error(err, "Orphans may remain, retrying", "after", sweepPeriod)
			}
		}, sweepPeriod)
	})
	observe.Program(trace.Said, "ready: %d Projects, volumes in %s (Ctrl-C stops)", len(projects.Store.ListKeys()), o.store)
	projectController.Run(ctx, workers)
	observe.Program(trace.Stopped, "stopped: all workers have finished")
	return nil
}

// project tells the observer how to print Projects.
var project = observer.Kind{
	GVK:      v1alpha1.SchemeGroupVersion.WithKind("Project"),
	Resource: "projects",
	Describe: func(object any) string {
		project := object.(*v1alpha1.Project)
		text := fmt.Sprintf("replicas %d, finalizers %q", project.Spec.Replicas, project.Finalizers)
		if project.DeletionTimestamp != nil {
			text += ", being deleted"
		}
		return text
	},
}
