package main

import (
	"context"
	"errors"
	"log"
	"os"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/compare/judge/reference/bugs"
)

// reconcileTimeout limits one reconcile, so that no request hangs for ever.
const reconcileTimeout = 10 * time.Second

// The indexes of the two stores.
const (
	byDeploymentName = "byDeploymentName"
	byController     = "byController"
)

// deploymentNameOf is what Foos are found by: the Deployment that the spec names.
func deploymentNameOf(obj any) ([]string, error) {
	foo := obj.(*unstructured.Unstructured)
	field, found, _ := unstructured.NestedFieldNoCopy(foo.Object, "spec", "deploymentName")
	name, _ := field.(string) // "" if it is none
	if found && has(bugs.AssertsTypes) {
		name = field.(string)
	}
	return []string{foo.GetNamespace() + "/" + name}, nil
}

// controllerOf is what Deployments are found by: the UID of their controller.
func controllerOf(obj any) ([]string, error) {
	owner := metav1.GetControllerOf(obj.(metav1.Object))
	if owner == nil {
		return nil, nil
	}
	return []string{string(owner.UID)}, nil
}

// enqueueFoo is called for each event of a Foo.
func (c *fooController) enqueueFoo(obj any) {
	if key, err := cache.DeletionHandlingObjectToName(obj); err == nil {
		c.queue.Add(key)
	}
}

// enqueueOwner is called for each event of a Deployment. Two kinds of Foos want to know: the
// one that controls it, and those that name it and may wait for the name.
func (c *fooController) enqueueOwner(obj any) {
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = tombstone.Obj
	}
	deployment := obj.(metav1.Object)
	if owner := metav1.GetControllerOf(deployment); owner != nil && owner.Kind == "Foo" {
		c.queue.Add(cache.NewObjectName(deployment.GetNamespace(), owner.Name))
	}
	if has(bugs.DeafToNames) {
		return
	}
	waiting, _ := c.fooStore.ByIndex(byDeploymentName, cache.MetaObjectToName(deployment).String())
	for _, foo := range waiting {
		c.enqueueFoo(foo)
	}
}

// work takes one key after the other until the queue is shut down.
func (c *fooController) work(ctx context.Context) {
	for {
		key, shutdown := c.queue.Get()
		if shutdown {
			return
		}
		err := c.reconcileInTime(ctx, key)
		for err != nil && has(bugs.HeadOfLine) && ctx.Err() == nil {
			time.Sleep(time.Second)
			err = c.reconcileInTime(ctx, key)
		}
		c.decide(key, err)
		c.queue.Done(key)
	}
}

// reconcileInTime gives up when the API server does not answer in time.
func (c *fooController) reconcileInTime(ctx context.Context, key cache.ObjectName) error {
	ctx, cancel := context.WithTimeout(ctx, reconcileTimeout)
	defer cancel()
	return c.reconcile(ctx, key)
}

// decide is the whole retry policy. A key that failed comes back later, each time twice as
// late, and no other key waits for it.
func (c *fooController) decide(key cache.ObjectName, err error) {
	if err != nil {
		log.Printf("%s: %v", key, err)
	}
	switch {
	case err == nil, errors.Is(err, errTaken): // An event tells when the name is free.
		c.queue.Forget(key)
	case has(bugs.NoRetry):
		c.queue.Forget(key)
	case has(bugs.NoBackoff):
		c.queue.Add(key)
	case has(bugs.ExitsOn5xx) && (apierrors.IsInternalError(err) || apierrors.IsServiceUnavailable(err)):
		os.Exit(1)
	default:
		c.queue.AddRateLimited(key)
	}
	if has(bugs.PollWrites) {
		c.queue.AddAfter(key, time.Second)
	}
}
