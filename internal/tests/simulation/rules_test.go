package simulation

import (
	"net/http"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/informer"
	"example.com/byhand/internal/tests/oracle"
)

// seen is the state that a reconcile has read: the stores at its beginning, and the API server's responses.
type seen struct {
	foo       *v1alpha1.Foo              // may be nil
	named     *appsv1.Deployment         // the Deployment that the Foo names; may be nil
	owned     []*appsv1.Deployment       // the Deployments that the Foo controls
	stale     bool                       // the Foo in the API server is gone, or has a newer spec
	confirmed *unstructured.Unstructured // the response of the last GET of the Deployment that the Foo names; may be nil
}

// sees returns the state that a reconcile that begins now reads from the stores.
func (p *process) sees(key cache.ObjectName) (saw seen) {
	stored, exists, _ := p.reconciler.FooStore.GetByKey(key.String())
	if !exists {
		return saw
	}
	saw.foo = stored.(*v1alpha1.Foo)
	if stored, exists, _ := p.reconciler.DeploymentStore.GetByKey(key.Namespace + "/" + saw.foo.Spec.DeploymentName); exists {
		saw.named = stored.(*appsv1.Deployment)
	}
	saw.owned = informer.DeploymentsOf(p.reconciler.DeploymentStore, saw.foo)
	live := p.api.Get(pathOf("foos", key.Name))
	saw.stale = live == nil || live.GetUID() != saw.foo.UID || live.GetGeneration() != saw.foo.Generation
	return saw
}

// check checks a request after the API server's response.
func (s *sequence) check(x *exchange) {
	switch foo := x.seen.foo; {
	case foo == nil:
		s.breaks("a request for a Foo that is not in the store")
	case foo.DeletionTimestamp != nil:
		s.breaks("a request for a Foo that is being deleted")
	case x.method == http.MethodGet:
	case x.code >= http.StatusBadRequest:
		s.checkRefusal(x)
	default:
		if x.target.Resource == "deployments" {
			s.checkDeployment(x)
		}
		s.writes[x.path] = append(s.writes[x.path], x)
	}
}

// checkRefusal: a process waits up to 20 s until its stores show its own writes, so its own writes cause no Conflict.
func (s *sequence) checkRefusal(x *exchange) {
	for _, own := range s.writes[x.path] {
		known := own.process == x.process && own.key == x.key && own.received && time.Since(own.at) < 20*time.Second
		if known && x.method == http.MethodPut && own.method == http.MethodPut && version(own.after) > version(x.body) {
			s.breaks("Conflict with the process's own write, v%d", version(own.after))
		}
		if known && x.method == http.MethodDelete && own.method == http.MethodDelete && *x.preconditions.UID == own.before.GetUID() {
			s.breaks("deletes an object again that it deleted itself")
		}
	}
}

// controllerOf returns the UID of an object's controller, or "".
func controllerOf(object metav1.Object) types.UID {
	if owner := metav1.GetControllerOfNoCopy(object); owner != nil {
		return owner.UID
	}
	return ""
}

func (s *sequence) checkDeployment(x *exchange) {
	foo := x.seen.foo
	if x.method != http.MethodPost && controllerOf(x.before) != foo.UID {
		s.breaks("%s of a Deployment that Foo %s does not control", x.method, foo.UID)
	}
	switch x.method {
	case http.MethodPost:
		s.checkCreate(x, foo)
	case http.MethodPut:
		s.checkUpdate(x, foo)
	case http.MethodDelete:
		s.checkDelete(x, foo)
	}
}

// checkCreate: a Deployment is created for a Foo that exists, under the name in its spec.
func (s *sequence) checkCreate(x *exchange, foo *v1alpha1.Foo) {
	if controllerOf(x.body) != foo.UID || x.target.Name != foo.Spec.DeploymentName {
		s.breaks("creates Deployment %s, controlled by %q, for Foo %s", x.target.Name, controllerOf(x.body), foo.UID)
	}
	if foo.Status.ObservedGeneration > 0 && x.seen.stale {
		s.breaks("creates the Deployment of a Foo that is gone or has a newer spec")
	}
}

// checkUpdate: a Deployment is not changed while it is being deleted, and not back to an older spec.
func (s *sequence) checkUpdate(x *exchange, foo *v1alpha1.Foo) {
	if x.before.GetDeletionTimestamp() != nil {
		s.breaks("changes a Deployment that is being deleted")
	}
	for _, own := range s.writes[x.path] {
		if earlier := own.seen.foo; earlier.UID == foo.UID && earlier.Generation > foo.Generation && own.method != http.MethodDelete && own.after.GetUID() == x.before.GetUID() {
			s.breaks("goes back from generation %d to %d", earlier.Generation, foo.Generation)
		}
	}
}

// checkDelete: a Deployment is deleted only after a rename, and not before its replacement exists.
func (s *sequence) checkDelete(x *exchange, foo *v1alpha1.Foo) {
	replacement := x.seen.confirmed
	switch {
	case x.preconditions.UID == nil:
		s.breaks("deletes by name, without a UID")
	case x.seen.stale || x.target.Name == foo.Spec.DeploymentName:
		s.breaks("deletes the Deployment of a Foo that is gone or has a newer spec")
	case replacement == nil || controllerOf(replacement) != foo.UID || replacement.GetDeletionTimestamp() != nil:
		s.breaks("deletes %s before %s exists", x.target.Name, foo.Spec.DeploymentName)
	}
}

// checkRate: if nothing but a lasting fault changes objects, each is written at most 30 times in 15 s.
func (s *sequence) checkRate(x *exchange) {
	if !s.resting || x.method == http.MethodGet {
		return
	}
	what := x.name + ": " + x.operation() + " " + x.target.Name
	recent := slices.DeleteFunc(s.sent[what], func(at time.Time) bool { return x.at.Sub(at) > 15*time.Second })
	if s.sent[what] = append(recent, x.at); len(recent) > 30 {
		s.breaks("%s: more than 30 times in 15 s", what)
	}
}

// checkFinalState: each Foo has the one Deployment that its spec asks for, or its status explains why not, and
// no other Deployment is left.
func (s *sequence) checkFinalState() {
	if err := oracle.Ours(stored[v1alpha1.Foo](s, "foos"), stored[appsv1.Deployment](s, "deployments")).Err(); err != nil {
		s.breaks("%v", err)
	}
}

// stored returns the objects of a resource.
func stored[T any](s *sequence, resource string) (all []T) {
	for _, object := range s.api.List(resource) {
		all = append(all, *decode[T](s, object))
	}
	return all
}
