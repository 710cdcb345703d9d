// Command mine is a Foo controller. README.md has the next steps.
package main

import (
	"context"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"k8s.io/client-go/kubernetes"
	appsv1client "k8s.io/client-go/kubernetes/typed/apps/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/byhand/clientset"
	"example.com/byhand/controller"
	"example.com/byhand/informer"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		log.Fatal(err)
	}
	if err := run(ctx, config); err != nil {
		log.Fatal(err)
	}
}

// run returns when ctx is done.
func run(ctx context.Context, config *rest.Config) error {
	client, kubeClient := clientset.NewForConfigOrDie(config), kubernetes.NewForConfigOrDie(config)

	// Informers: each event of a Foo enqueues its key.
	queue := controller.NewQueue("foo")
	foos := informer.NewFoos(client, "", 10*time.Minute, controller.EnqueueObject(queue))
	go foos.Run(ctx)
	if err := informer.WaitForSync(ctx, time.Minute, foos); err != nil {
		return err
	}

	// Workers: they take keys from the queue, reconcile them, and retry failed ones.
	r := &reconciler{client.SamplecontrollerV1alpha1(), kubeClient.AppsV1(), foos.Store}
	controller.New(queue, r.reconcile).Run(ctx, 4)
	return nil
}

// reconciler gives each Foo its Deployment.
type reconciler struct {
	foos        clientset.FoosGetter
	deployments appsv1client.DeploymentsGetter
	fooStore    cache.Indexer
}

// reconcile compares the current state with the Foo, and sends the differences. An error, or
// a time greater than 0, requeues the key.
func (r *reconciler) reconcile(ctx context.Context, key cache.ObjectName) (again time.Duration, err error) {
	return 0, nil
}
