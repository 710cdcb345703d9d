// Command floor does a cold start with the fewest requests that do the job: it lists
// all Foos once and sends, for each, the two writes that byhand sends for a new Foo,
// a POST of the Deployment and a PUT of the status. It has no cache, no queue and no
// watch, reads nothing back, and ends when the last answer has come. How fast it is
// says how fast the API server is for one that sends these two writes, and no more.
//
// With --watch it also holds the two watches of a controller and throws away what
// they tell. Every controller pays for these; what it costs beyond that is its own.
//
// It is not a controller: a Foo that has a Deployment already ends it with an error.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/clientset"
)

type options struct {
	kubeconfig string
	workers    int
	watch      bool
}

func main() {
	var o options
	flag.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig `file`")
	flag.IntVar(&o.workers, "workers", 16, "Foos to write for at the same time")
	flag.BoolVar(&o.watch, "watch", false, "also watch Foos and Deployments, and do nothing with what is heard")
	flag.Parse()
	if err := run(context.Background(), o); err != nil {
		fmt.Fprintln(os.Stderr, "floor:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	if flag.NArg() > 0 || o.workers < 1 {
		return errors.New("usage: no arguments, --workers at least 1")
	}
	config, err := clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	if err != nil {
		return fmt.Errorf("read the kubeconfig: %w", err)
	}
	config.UserAgent = "floor"
	config.QPS = -1 // No limit on this side, like byhand.
	var w writer
	if w.foos, err = clientset.NewForConfig(config); err != nil {
		return fmt.Errorf("make the client of Foos: %w", err)
	}
	if w.deployments, err = kubernetes.NewForConfig(config); err != nil {
		return fmt.Errorf("make the client of Deployments: %w", err)
	}

	foos, err := w.foos.SamplecontrollerV1alpha1().Foos(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list the Foos: %w", err)
	}
	if o.watch {
		if err := w.listen(ctx, foos.ResourceVersion); err != nil {
			return err
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(o.workers)
	for i := range foos.Items {
		group.Go(func() error { return w.write(ctx, &foos.Items[i]) })
	}
	return group.Wait()
}

// writer sends what one Foo needs.
type writer struct {
	foos        clientset.Interface
	deployments kubernetes.Interface
}

// write creates the Foo's Deployment and writes its status.
func (w *writer) write(ctx context.Context, foo *v1alpha1.Foo) error {
	created, err := w.deployments.AppsV1().Deployments(foo.Namespace).Create(ctx, newDeployment(foo), metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("create Deployment %s/%s: %w", foo.Namespace, foo.Spec.DeploymentName, err)
	}
	foo.Status = newStatus(foo, created)
	if _, err := w.foos.SamplecontrollerV1alpha1().Foos(foo.Namespace).UpdateStatus(ctx, foo, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("update status of Foo %s/%s: %w", foo.Namespace, foo.Name, err)
	}
	return nil
}

// listen watches Foos and Deployments from a version on, decodes each event as a
// controller does, and throws it away. It returns when both watches stand. They end with
// the program.
func (w *writer) listen(ctx context.Context, version string) error {
	from := metav1.ListOptions{ResourceVersion: version}
	foos, err := w.foos.SamplecontrollerV1alpha1().Foos(metav1.NamespaceAll).Watch(ctx, from)
	if err != nil {
		return fmt.Errorf("watch the Foos: %w", err)
	}
	deployments, err := w.deployments.AppsV1().Deployments(metav1.NamespaceAll).Watch(ctx, from)
	if err != nil {
		return fmt.Errorf("watch the Deployments: %w", err)
	}
	for _, stream := range []watch.Interface{foos, deployments} {
		go func() {
			for range stream.ResultChan() {
			}
		}()
	}
	return nil
}
