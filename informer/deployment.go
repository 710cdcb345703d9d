package informer

import (
	"context"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	appsv1client "k8s.io/client-go/kubernetes/typed/apps/v1"
	"k8s.io/client-go/tools/cache"
)

// AppsV1Getter is a clientset that has Deployments. kubernetes.Interface is one.
type AppsV1Getter interface {
	AppsV1() appsv1client.AppsV1Interface
}

// NewDeployments is NewProjects for Deployments, with an index.
func NewDeployments(client AppsV1Getter, namespace string, resync time.Duration, handler cache.ResourceEventHandler) *Informer {
	listWatch := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			return client.AppsV1().Deployments(namespace).List(ctx, opts)
		},
		WatchFuncWithContext: client.AppsV1().Deployments(namespace).Watch,
	}
	return New(appsv1.Resource("deployments"), client, listWatch, cache.InformerOptions{
		ObjectType:   &appsv1.Deployment{},
		Handler:      handler,
		ResyncPeriod: resync,
		Indexers:     DeploymentIndexers(),
	})
}

const byController = "byController"

// DeploymentIndexers index each Deployment by the namespace and UID of its controller, if it has one. A
// recreated Foo has the same name and a different UID. Without the index, each reconcile would search all
// Deployments of the namespace.
func DeploymentIndexers() cache.Indexers {
	return cache.Indexers{byController: func(obj any) ([]string, error) {
		deployment := obj.(*appsv1.Deployment)
		owner := metav1.GetControllerOfNoCopy(deployment)
		if owner == nil {
			return nil, nil
		}
		return []string{deployment.Namespace + "/" + string(owner.UID)}, nil
	}}
}

// DeploymentsOf returns the Deployments that owner controls, in the order of their names.
func DeploymentsOf(deployments cache.Indexer, owner metav1.Object) []*appsv1.Deployment {
	owned := byIndex[*appsv1.Deployment](deployments, byController, owner.GetNamespace()+"/"+string(owner.GetUID()))
	slices.SortFunc(owned, func(a, b *appsv1.Deployment) int { return strings.Compare(a.Name, b.Name) })
	return owned
}
