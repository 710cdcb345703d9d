package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	appsv1client "k8s.io/client-go/kubernetes/typed/apps/v1"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/clientset"
	"example.com/byhand/controller"
	"example.com/byhand/informer"
	"example.com/byhand/internal/observe/kinds"
	"example.com/byhand/internal/observe/observer"
	"example.com/byhand/kit/connect"
)

const workers, syncTimeout, resync = 8, time.Minute, 10 * time.Minute

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first signal, a second one ends the process at once.
	context.AfterFunc(ctx, stop)
	if err := run(ctx); err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "apply:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	kubeconfig := flag.String("kubeconfig", "", "kubeconfig `file` (default: $KUBECONFIG, then ~/.kube/config, then the Pod's own account)")
	namespace := flag.String("namespace", "", "the only namespace to watch (default: all)")
	way := flag.String("way", "apply", "how to write: update, merge, strategic or apply")
	force := flag.Bool("force", false, "with --way=apply: take fields from their owners")
	every := flag.Duration("beside", 0, "scale and label each Deployment at this interval, like two other clients (0: never)")
	prints := flag.Bool("owners", false, "read an object from stdin, print the owners of its fields, and exit")
	flag.Parse()
	if isWay := slices.Contains([]string{"update", "merge", "strategic", "apply"}, *way); !isWay || *force && *way != "apply" || *every < 0 || flag.NArg() > 0 {
		return errors.New("usage: --way is update, merge, strategic or apply, --force needs --way=apply, --beside is 0 or more, no arguments (see --help)")
	}
	if *prints {
		return printOwners()
	}

	// Clients. The observer prints each of their writes.
	config, _, err := connect.Config(connect.Options{Kubeconfig: *kubeconfig, QPS: -1})
	if err != nil {
		return err
	}
	observe := observer.New(observer.Options{})
	observe.Print(observer.Flag{}, os.Stdout)
	defer observe.Close()
	config = observe.Requests(config)
	client, err := clientset.NewForConfig(config)
	if err != nil {
		return connect.ExplainConfig(err)
	}
	if _, err := connect.Check(ctx, client.Discovery(), config.Host, v1alpha1.SchemeGroupVersion); err != nil {
		return err
	}
	kube := kubernetes.NewForConfigOrDie(config)

	// The Foo controller's informers, queue and workers, with this reconcile.
	queue := observe.Queue(kinds.Foo, controller.NewQueue("foo"))
	foos := informer.NewFoos(client, *namespace, resync, controller.EnqueueObject(queue))
	deployments := informer.NewDeployments(kube, *namespace, resync, controller.EnqueueOwner(queue, v1alpha1.Kind("Foo"), informer.FoosNaming(foos.Store)))
	observe.Informers(kinds.All, foos, deployments)
	go foos.Run(ctx)
	go deployments.Run(ctx)
	if err := informer.WaitForSync(ctx, syncTimeout, foos, deployments); err != nil {
		return err
	}
	if *every > 0 {
		go beside(ctx, *every, kube.AppsV1(), foos.Store, deployments.Store)
	}
	fmt.Printf("ready: %d Foos, --way=%s (Ctrl-C stops)\n", len(foos.Store.ListKeys()), *way)
	controller.New(queue, observe.Reconcile(kinds.Foo, &reconciler{client.SamplecontrollerV1alpha1(), kube.AppsV1(), foos.Store, *way, *force}).Reconcile).Run(ctx, workers)
	return nil
}

// scale sets the number like a HorizontalPodAutoscaler: it reads the scale and updates it.
func scale(ctx context.Context, client appsv1client.DeploymentInterface, name string, replicas int32) error {
	scale, err := client.GetScale(ctx, name, metav1.GetOptions{})
	if err == nil {
		scale.Spec.Replicas = replicas
		_, err = client.UpdateScale(ctx, name, scale, metav1.UpdateOptions{FieldManager: "autoscaler"})
	}
	return err
}

// beside scales and labels each Deployment that a Foo controls until ctx is done. It ignores
// errors: the next round writes again.
func beside(ctx context.Context, every time.Duration, client appsv1client.DeploymentsGetter, foos cache.Store, deployments cache.Indexer) {
	round := 0
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		round++
		for _, foo := range foos.List() {
			for _, deployment := range informer.DeploymentsOf(deployments, foo.(*v1alpha1.Foo)) {
				client, label := client.Deployments(deployment.Namespace), fmt.Appendf(nil, `{"metadata":{"labels":{"round":"%d"}}}`, round)
				_ = scale(ctx, client, deployment.Name, int32(3+round%3))
				_, _ = client.Patch(ctx, deployment.Name, types.MergePatchType, label, metav1.PatchOptions{FieldManager: "labeler"})
			}
		}
	}, every)
}

// printOwners prints the managedFields of an object from stdin.
func printOwners() error {
	var of metav1.PartialObjectMetadata
	if err := json.NewDecoder(os.Stdin).Decode(&of); err != nil || of.ManagedFields == nil {
		return errors.New("--owners needs an object on stdin, from kubectl get KIND NAME -o json --show-managed-fields")
	}
	for _, entry := range of.ManagedFields {
		var owned fieldpath.Set
		if err := owned.FromJSON(entry.FieldsV1.GetRawReader()); err != nil {
			return err
		}
		fmt.Println(entry.Manager, entry.Operation, entry.Subresource)
		owned.Leaves().Iterate(func(path fieldpath.Path) { fmt.Println("   ", path) })
	}
	return nil
}
