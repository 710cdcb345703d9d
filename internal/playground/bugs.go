package playground

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
)

// Bugs of the judge's reference program (compare/judge/reference/bugs) that the wiring of a
// replica alone can have. The lesson's code stays as it is.
const (
	noBug          = "none"
	deafToDeletion = "deaf-to-deletion"
	deafToNames    = "deaf-to-names"
	noRetry        = "no-retry"
	noOwner        = "no-owner"
	exitsOn5xx     = "exits-on-5xx"
)

func init() {
	commands["bug"] = command{words: []word{oneOf(noBug, deafToDeletion, deafToNames, noRetry, noOwner, exitsOn5xx)}, do: func(p *Playground, args []string) (both, error) {
		for _, r := range p.running() {
			p.bury(r)
		}
		p.mu.Lock()
		p.bug = args[0]
		p.mu.Unlock()
		p.start()
		return both{"The program is started anew, bug: " + args[0], "程序已重新启动，bug：" + args[0]}, nil
	}}
}

// none is what a program knows of the Foos that wait for a name if it is deaf to names.
func none(cache.ObjectName) []cache.ObjectName { return nil }

// deaf is a handler that does not hear of deletions.
type deaf struct{ cache.ResourceEventHandler }

func (deaf) OnDelete(any) {}

// spoil puts the bug into a reconcile.
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

// ownerless is a client of Deployments whose new ones have no owner reference.
type ownerless struct{ appsv1client.DeploymentsGetter }

func (o ownerless) Deployments(namespace string) appsv1client.DeploymentInterface {
	return ownerlessIn{o.DeploymentsGetter.Deployments(namespace)}
}

type ownerlessIn struct {
	appsv1client.DeploymentInterface
}

func (o ownerlessIn) Create(ctx context.Context, deployment *appsv1.Deployment, options metav1.CreateOptions) (*appsv1.Deployment, error) {
	deployment = deployment.DeepCopy()
	deployment.OwnerReferences = nil
	return o.DeploymentInterface.Create(ctx, deployment, options)
}
