// Command mine is a Foo controller. README.md has the next steps.
package main

import (
	"context"
	"errors"
	"log"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	appsv1client "k8s.io/client-go/kubernetes/typed/apps/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
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
	config.QPS = -1
	client, kubeClient := clientset.NewForConfigOrDie(config), kubernetes.NewForConfigOrDie(config)

	// Informers: each event of a Foo or its Deployment enqueues the Foo's key.
	const workers = 4
	queue := controller.NewQueue("foo")
	foos := informer.NewFoos(client, "", 10*time.Minute, controller.EnqueueObject(queue))
	deployments := informer.NewDeployments(kubeClient, "", 0, controller.EnqueueOwner(queue, v1alpha1.Kind("Foo"), informer.FoosNaming(foos.Store)))
	go foos.Run(ctx)
	go deployments.Run(ctx)
	if err := informer.WaitForSync(ctx, time.Minute, foos, deployments); err != nil {
		return err
	}

	// Workers: they take keys from the queue, reconcile them, and retry failed ones.
	r := &reconciler{foos: client.SamplecontrollerV1alpha1(), deployments: kubeClient.AppsV1(), fooStore: foos.Store, deploymentStore: deployments.Store, rewrites: controller.NewRewrites()}
	controller.New(queue, r.reconcile).Run(ctx, workers)
	return nil
}

// reconciler gives each Foo its Deployment.
type reconciler struct {
	foos                      clientset.FoosGetter
	deployments               appsv1client.DeploymentsGetter
	fooStore, deploymentStore cache.Indexer
	rewrites                  *controller.Rewrites
}

// reconcile compares the current state with the Foo, and sends the differences. An error, or
// a time greater than 0, requeues the key.
func (r *reconciler) reconcile(ctx context.Context, key cache.ObjectName) (again time.Duration, err error) {
	stored, exists, err := r.fooStore.GetByKey(key.String())
	if err != nil || !exists || stored.(*v1alpha1.Foo).DeletionTimestamp != nil {
		return 0, err
	}
	foo := stored.(*v1alpha1.Foo)
	return 0, errors.Join(r.writeDeployment(ctx, foo), r.writeStatus(ctx, foo))
}

// writeDeployment writes the Deployment that the Foo names and deletes its earlier Deployments.
func (r *reconciler) writeDeployment(ctx context.Context, foo *v1alpha1.Foo) error {
	stored, exists, err := r.deploymentStore.GetByKey(foo.Namespace + "/" + foo.Spec.DeploymentName)
	current, _ := stored.(*appsv1.Deployment)
	if err != nil || exists && (!metav1.IsControlledBy(current, foo) || current.DeletionTimestamp != nil) {
		return err
	}
	desired := newDeployment(foo, current)
	earlier := slices.DeleteFunc(informer.DeploymentsOf(r.deploymentStore, foo), func(d *appsv1.Deployment) bool {
		return d.Name == desired.Name || d.DeletionTimestamp != nil
	})
	differs := !equality.Semantic.DeepEqual(current, desired)
	if !differs && len(earlier) == 0 {
		return r.rewrites.Err(foo, "Deployment")
	}
	return errors.Join(r.send(ctx, foo, current, desired, differs, earlier), r.rewrites.Err(foo, "Deployment"))
}

// send checks that the Foo in the store is current, and then sends the writes.
func (r *reconciler) send(ctx context.Context, foo *v1alpha1.Foo, current, desired *appsv1.Deployment, differs bool, earlier []*appsv1.Deployment) error {
	live, err := r.foos.Foos(foo.Namespace).Get(ctx, foo.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if live.UID != foo.UID || live.Generation != foo.Generation {
		return errors.New("the store has an older Foo")
	}
	client := r.deployments.Deployments(foo.Namespace)
	if current == nil {
		current, err = client.Create(ctx, desired, metav1.CreateOptions{})
	} else if differs {
		current, err = client.Update(ctx, desired, metav1.UpdateOptions{})
	}
	if err == nil {
		r.rewrites.Record(foo, "Deployment", current.Name) // A write that others undo fails and backs off.
	}
	if err == nil && (!metav1.IsControlledBy(current, foo) || !equality.Semantic.DeepEqual(current, newDeployment(foo, current))) {
		err = errors.New("the Deployment was changed on its way to the store")
	}
	for _, old := range earlier {
		if err == nil {
			err = client.Delete(ctx, old.Name, *metav1.NewRVDeletionPrecondition(old.ResourceVersion))
		}
	}
	return err
}

// newDeployment returns a copy of current, or a new Deployment, as the Foo asks for it.
func newDeployment(foo *v1alpha1.Foo, current *appsv1.Deployment) *appsv1.Deployment {
	labels := map[string]string{"foo-uid": string(foo.UID)}
	d := current.DeepCopy()
	if d == nil {
		d = &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}}}
		d.Name, d.Spec.Template.Labels = foo.Spec.DeploymentName, labels
		d.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(foo, v1alpha1.SchemeGroupVersion.WithKind("Foo"))}
		d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "nginx"}}
	}
	d.Spec.Template.Spec.Containers[0].Image = "nginx:1.29"
	if foo.Spec.Replicas != nil {
		d.Spec.Replicas = foo.Spec.Replicas
	}
	return d
}

// writeStatus updates the number of available replicas in the Foo's status, if it differs.
func (r *reconciler) writeStatus(ctx context.Context, foo *v1alpha1.Foo) error {
	var available int32
	for _, d := range informer.DeploymentsOf(r.deploymentStore, foo) {
		available += d.Status.AvailableReplicas
	}
	if foo.Status.AvailableReplicas == available {
		return nil
	}
	foo = foo.DeepCopy()
	foo.Status.AvailableReplicas = available
	_, err := r.foos.Foos(foo.Namespace).UpdateStatus(ctx, foo, metav1.UpdateOptions{})
	return err
}
