package lab

import (
	"context"
	"errors"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsv1client "k8s.io/client-go/kubernetes/typed/apps/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/controller"
	"example.com/byhand/internal/observe/observer"
	"example.com/byhand/internal/observe/trace"
)

// Bugs in the wiring of a replica; the lesson's code stays unchanged.
const (
	noBug          = "none"
	deafToDeletion = "deaf-to-deletion"
	deafToNames    = "deaf-to-names"
	noRetry        = "no-retry"
	noOwner        = "no-owner"
	noRename       = "no-rename"
	deletesFirst   = "deletes-first"
	exitsOn5xx     = "exits-on-5xx"
	edgeTriggered  = "edge-triggered"
)

func init() {
	commands["bug"] = command{words: []word{oneOf(noBug, deafToDeletion, deafToNames, noRetry, noOwner, noRename, deletesFirst, exitsOn5xx, edgeTriggered)}, do: func(p *Playground, args []string) (string, error) {
		p.anew(args[0])
		return "Restarted the controller, bug: " + args[0], nil
	}}
}

// anew stops every process and starts one with a bug.
func (p *Playground) anew(bug string) {
	p.era.Add(1)
	_, _ = p.stop(nil)
	p.mu.Lock()
	p.bug = bug
	p.mu.Unlock()
	p.start()
}

// deaf is a handler that ignores deletions, and records that.
type deaf struct {
	cache.ResourceEventHandler
	observe *observer.Observer
}

func (d deaf) OnDelete(any) {
	d.observe.Record(&trace.Step{Part: "handler", What: "ignored", Kind: "Deployment"}, nil)
}

// spoil adds the bug to a reconcile.
func (r *replica) spoil(next controller.Reconcile) controller.Reconcile {
	return func(ctx context.Context, key cache.ObjectName) (time.Duration, error) {
		requeueAfter, err := next(ctx, key)
		switch {
		case r.bug == noRetry:
			return 0, nil
		case r.bug == exitsOn5xx && apierrors.IsInternalError(err):
			r.exit(errors.New("the program exits: " + err.Error()))
		}
		return requeueAfter, err
	}
}

// wrong is a client for Deployments that may have a bug.
type wrong struct {
	appsv1client.DeploymentsGetter
	appsv1client.DeploymentInterface // of one namespace
	bug                              string
}

func (w wrong) Deployments(namespace string) appsv1client.DeploymentInterface {
	w.DeploymentInterface = w.DeploymentsGetter.Deployments(namespace)
	return w
}

func (w wrong) Create(ctx context.Context, deployment *appsv1.Deployment, options metav1.CreateOptions) (*appsv1.Deployment, error) {
	switch deployment = deployment.DeepCopy(); w.bug {
	case noOwner:
		deployment.OwnerReferences = nil
	case deletesFirst:
		all, err := w.List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		for _, old := range all.Items {
			if metav1.IsControlledBy(&old, &metav1.ObjectMeta{UID: metav1.GetControllerOf(deployment).UID}) {
				_ = w.Delete(ctx, old.Name, metav1.DeleteOptions{})
			}
		}
	}
	return w.DeploymentInterface.Create(ctx, deployment, options)
}

// forgetful is the store of a program that does not search for Deployments of an earlier name.
type forgetful struct{ cache.Indexer }

func (forgetful) ByIndex(string, string) ([]any, error) { return nil, nil }
