package main

import (
	"cmp"
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
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

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
	namespace := flag.String("namespace", metav1.NamespaceAll, "the only namespace to watch (default: all)")
	var show observer.Flag
	flag.BoolFunc("trace", "print every step instead of the log: for all Ats, for one (--trace=default/example-at), or as JSON lines (--trace=json)", show.Set)
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first signal, a second one ends the process at once.
	context.AfterFunc(ctx, stop)
	config, _, err := connect.Config(connect.Options{Kubeconfig: *kubeconfig, QPS: -1}) // no client-side rate limit
	if flag.NArg() > 0 {
		err = errors.New("usage: no arguments are allowed; write --trace=WHAT (see --help)")
	}
	if err == nil {
		err = run(ctx, config, *namespace, show)
	}
	if err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "at:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, config *rest.Config, namespace string, show observer.Flag) error {
	observe := observer.New(observer.Options{All: show.On()})
	observe.Print(show, os.Stdout)
	defer observe.Close()

	// Clients for Ats (ours) and Pods (client-go's).
	config = observe.Requests(config)
	client, err := NewClient(config)
	if err != nil {
		return connect.ExplainConfig(err)
	}
	kubeClient, err := kubernetes.NewForConfig(config)
	if err != nil {
		return connect.ExplainConfig(err)
	}
	if _, err := connect.Check(ctx, kubeClient.Discovery(), config.Host, SchemeGroupVersion); err != nil {
		return err
	}

	// Queue and informers: an event of an At or its Pod enqueues the At.
	queue := observe.Queue(observedAt, controller.NewQueue("at"))
	ats := NewAts(client, namespace, resync, controller.EnqueueObject(queue))
	pods := NewPods(kubeClient, namespace, enqueueAt(queue))
	observe.Informers([]observer.Kind{observedAt, observedPod}, ats, pods)

	// Reconciler: key → stores → requests.
	reconciler := &Reconciler{Client: client, Pods: kubeClient.CoreV1(), AtStore: ats.Store, PodStore: pods.Store, Now: time.Now}
	atController := controller.New(queue, observe.Reconcile(observedAt, reconciler).Reconcile)

	// Run the informers, then the workers, until ctx is done.
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() { ats.Run(ctx) })
	running.Go(func() { pods.Run(ctx) })
	if err := informer.WaitForSync(ctx, syncTimeout, ats, pods); err != nil {
		return err
	}
	observe.Program(trace.Said, "ready: %d Ats, %d of their Pods (Ctrl-C stops)", len(ats.Store.ListKeys()), len(pods.Store.ListKeys()))
	atController.Run(ctx, workers)
	observe.Program(trace.Stopped, "stopped: all workers have finished")
	return nil
}

// Tells the observer how to print the two kinds.
var (
	observedAt = observer.Kind{GVK: atKind, Resource: "ats", Describe: func(object any) string {
		at := object.(*At)
		text := fmt.Sprintf("%s %s", at.Spec.Schedule, cmp.Or(at.Status.Phase, "new"))
		if at.Status.Reason != "" {
			text += fmt.Sprintf(", %s: %s", at.Status.Reason, at.Status.Message)
		}
		if at.DeletionTimestamp != nil {
			text += ", being deleted"
		}
		return text
	}}
	observedPod = observer.Kind{GVK: corev1.SchemeGroupVersion.WithKind("Pod"), Resource: "pods", Owned: true,
		Describe: func(object any) string {
			pod := object.(*corev1.Pod)
			text := string(pod.Status.Phase)
			if pod.DeletionTimestamp != nil {
				text += ", being deleted"
			}
			return text
		},
		Shown: observer.Fields{"spec": {"restartPolicy": nil, "containers": {"name": nil, "image": nil}}, "status": {"phase": nil}},
	}
)
