package simulation

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/internal/tests/oracle"
)

const (
	uidLabel   = "samplecontroller.k8s.io/foo-uid"
	ourPodName = "nginx"
	heldFor    = 20 * time.Second // A process waits at most so long for the watch to deliver its own writes.
)

// The safety rules. They hold after each request.

// checkRefusal: a process causes no Conflict with its own writes.
func (s *sequence) checkRefusal(a *exchange) {
	for _, own := range s.known(a) {
		switch deleted := own.method == http.MethodDelete; {
		case a.method == http.MethodPut && !deleted && own.version > number(a.body.GetResourceVersion()),
			a.method == http.MethodPut && deleted && own.before.GetUID() == a.body.GetUID():
			s.breaks("refused because of its own write, v%d", own.version)
		case a.method == http.MethodPost && a.before != nil && !deleted && own.answer.GetUID() == a.before.GetUID() && controllerOf(a.before) == a.worker.seen.foo.UID:
			s.breaks("creates an object again that it wrote itself, v%d", own.version)
		case a.method == http.MethodDelete && deleted && a.preconditions.UID != nil && own.before.GetUID() == *a.preconditions.UID:
			s.breaks("deletes an object again that it deleted itself, v%d", own.version)
		}
	}
}

// known returns the process's writes at the path of a request, for the same key, whose responses it has
// received.
func (s *sequence) known(a *exchange) []*exchange {
	var known []*exchange
	for _, own := range s.rules.writes[a.path] {
		if own.worker.process == a.worker.process && own.worker.key == a.worker.key && own.delivered && time.Since(own.at) < heldFor {
			known = append(known, own)
		}
	}
	return known
}

// controllerOf returns the UID of an object's controller, or "".
func controllerOf(object metav1.Object) types.UID {
	if owner := metav1.GetControllerOfNoCopy(object); owner != nil {
		return owner.UID
	}
	return ""
}

// checkCreate: a Deployment is created with the name and the replicas of the Foo that the worker saw, and not
// for a missing Foo.
func (s *sequence) checkCreate(a *exchange) {
	foo := a.worker.seen.foo
	switch {
	case controllerOf(a.body) != foo.UID || a.name != foo.Spec.DeploymentName:
		s.breaks("creates Deployment %s, controlled by %q, for Foo %s", a.name, controllerOf(a.body), foo.UID)
	case foo.Status.ObservedGeneration > 0 && a.worker.seen.live == nil && s.isUntouched(a.worker):
		s.breaks("creates the Deployment of a Foo that is gone")
	}
}

// checkUpdate: an update changes only the fields that a Foo decides, of a Deployment that the Foo controls
// and that is not being deleted, and not back to an older generation.
func (s *sequence) checkUpdate(a *exchange) {
	foo := a.worker.seen.foo
	before, after := typed[appsv1.Deployment](s, a.before), decode[appsv1.Deployment](s, a.body)
	if controllerOf(before) != foo.UID {
		s.breaks("changes a Deployment that Foo %s does not control", foo.UID)
	}
	if before.DeletionTimestamp != nil {
		s.breaks("changes a Deployment that is being deleted")
	}
	if diff := cmp.Diff(theirs(before, foo), theirs(after, foo), cmpopts.EquateEmpty()); diff != "" {
		s.breaks("changes a foreign field (-before +after):\n%s", diff)
	}
	for _, own := range s.rules.writes[a.path] {
		if made := own.worker.seen.foo; made.UID == foo.UID && made.Generation > foo.Generation && own.answer != nil && own.answer.GetUID() == before.UID {
			s.breaks("goes back from generation %d to %d", made.Generation, foo.Generation)
		}
	}
}

// isUntouched reports whether the live Foo is unchanged since the worker started.
func (s *sequence) isUntouched(w *worker) bool {
	return w.seen.touched == s.rules.touched[pathOf("foos", w.key)]
}

// theirs returns a Deployment without the controller's fields.
func theirs(deployment *appsv1.Deployment, foo *v1alpha1.Foo) *appsv1.Deployment {
	rest := deployment.DeepCopy()
	rest.ResourceVersion, rest.Generation, rest.Status = "", 0, appsv1.DeploymentStatus{}
	if foo.Spec.Replicas != nil {
		rest.Spec.Replicas = nil
	}
	delete(rest.Spec.Template.Labels, uidLabel)
	rest.Spec.Selector = nil
	rest.OwnerReferences = slices.DeleteFunc(rest.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == foo.UID })
	var containers []corev1.Container
	for _, container := range rest.Spec.Template.Spec.Containers {
		if container.Name == ourPodName {
			container.Image = ""
		}
		if !equality.Semantic.DeepEqual(container, corev1.Container{Name: ourPodName}) {
			containers = append(containers, container)
		}
	}
	rest.Spec.Template.Spec.Containers = containers
	return rest
}

// checkDelete: a Deployment is deleted only by its Foo, once, after its replacement exists, and not if the
// live Foo names it.
func (s *sequence) checkDelete(a *exchange) {
	saw := a.worker.seen
	if a.preconditions.UID == nil {
		s.breaks("deletes whatever has the name")
	}
	if controllerOf(a.before) != saw.foo.UID {
		s.breaks("deletes a Deployment that Foo %s does not control", saw.foo.UID)
	}
	for _, own := range s.known(a) {
		if own.method == http.MethodDelete && own.before.GetUID() == a.before.GetUID() {
			s.breaks("deletes an object again that it deleted itself, v%d", own.version)
		}
	}
	if !slices.Contains(saw.wants(), "DELETE "+a.name) {
		s.breaks("deletes %s, and the Foo does not have the Deployment that it names, as it asks for it", a.name)
	}
	if saw.live != nil && saw.live.Spec.DeploymentName == a.name && s.isUntouched(a.worker) {
		s.breaks("deletes the Deployment that the live Foo names")
	}
}

// checkStatus: Ready is True only if it is true, the counts are the Deployments', and the conditions of other
// controllers stay.
func (s *sequence) checkStatus(a *exchange) {
	saw := a.worker.seen
	is, want := statusOf(s, a.body), oracle.Status(saw.foo, saw.deployment, saw.owned, saw.exists)
	if meta.IsStatusConditionTrue(is.Conditions, v1alpha1.FooReady) && !meta.IsStatusConditionTrue(want.Conditions, v1alpha1.FooReady) {
		s.breaks("Ready is True, and the Deployment is not as the Foo asks for")
	}
	if is.Replicas != want.Replicas || is.AvailableReplicas != want.AvailableReplicas {
		s.breaks("the status has %d replicas, %d available; the Deployments have %d and %d", is.Replicas, is.AvailableReplicas, want.Replicas, want.AvailableReplicas)
	}
	for _, c := range saw.foo.Status.Conditions {
		if c.Type != v1alpha1.FooReady && meta.FindStatusCondition(is.Conditions, c.Type) == nil {
			s.breaks("the status lacks the condition %s of another controller", c.Type)
		}
	}
}

// checkRate: while only a lasting fault changes anything, an object is written at most 30 times in 15 s. One
// fault stays below 16 (TestNoHotLoop); several change the content of a status, and each new content is
// counted from the start.
func (s *sequence) checkRate(a *exchange) {
	if !s.resting || a.method == http.MethodGet {
		return
	}
	what, now := fmt.Sprint(a.worker, " for ", a.worker.key, ": ", a.operation(), " ", a.name), time.Now()
	recent := slices.DeleteFunc(s.rules.sent[what], func(at time.Time) bool { return now.Sub(at) > 15*time.Second })
	if s.rules.sent[what] = append(recent, now); len(recent) > 30 {
		s.breaks("%s: more than 30 times in 15 s", what)
	}
}
