package simulation

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

// checkFinalState: each Foo has the one Deployment that its spec asks for, or says
// why it cannot; and no Deployment is left over.
func (s *sequence) checkFinalState() {
	foos := map[types.UID]*v1alpha1.Foo{}
	for _, path := range s.paths("foos") {
		foo := typed[v1alpha1.Foo](s, s.api.Get(path))
		foos[foo.UID] = foo
		s.checkFinalFoo(foo)
	}
	for _, path := range s.paths("deployments") {
		deployment := typed[appsv1.Deployment](s, s.api.Get(path))
		owner := metav1.GetControllerOf(deployment)
		if owner == nil || owner.Kind != "Foo" {
			continue
		}
		foo := foos[owner.UID]
		switch {
		case foo == nil:
			s.breaks("Deployment %s is controlled by %s, which is gone", short(path), owner.UID)
		case foo.Spec.DeploymentName != deployment.Name && holds(foo):
			s.breaks("Foo %s/%s has Deployment %s, and still controls %s", foo.Namespace, foo.Name, foo.Spec.DeploymentName, short(path))
		}
	}
}

// holds reports whether a Foo says that it has the Deployment that it names. One
// that cannot have it keeps what it had.
func holds(foo *v1alpha1.Foo) bool {
	return reasonOf(foo.Status) == v1alpha1.ReasonAvailable
}

// checkFinalFoo: the status is true, and the Deployment is as specified.
func (s *sequence) checkFinalFoo(foo *v1alpha1.Foo) {
	available, whose := s.finalReplicas(foo), "has no controller"
	ready, reason := metav1.ConditionFalse, v1alpha1.ReasonNameTaken
	stored := s.api.Get(pathOf("deployments", cache.NewObjectName(foo.Namespace, foo.Spec.DeploymentName)))
	switch {
	case strings.ToLower(foo.Spec.DeploymentName) != foo.Spec.DeploymentName, foo.Spec.Replicas != nil && *foo.Spec.Replicas < 0:
		reason = v1alpha1.ReasonInvalidSpec
	case stored == nil:
		s.breaks("Foo %s/%s has no Deployment %s", foo.Namespace, foo.Name, foo.Spec.DeploymentName)
		return
	default:
		deployment := typed[appsv1.Deployment](s, stored)
		owner := metav1.GetControllerOf(deployment)
		if owner != nil {
			whose = fmt.Sprintf("is controlled by %s %q", owner.Kind, owner.Name)
		}
		if owner != nil && owner.UID == foo.UID {
			s.checkFinalDeployment(deployment, foo)
			ready, reason = metav1.ConditionTrue, v1alpha1.ReasonAvailable
			available = wantedReplicas(deployment)
		}
	}
	got := describe(foo.Status, foo.Generation)
	if want := fmt.Sprintf("%d available, generation %d, %s=%s, Ready %s %s, Progressing False %s",
		available, foo.Generation, uidLabel, foo.UID, ready, reason, reason); got != want {
		s.breaks("status of Foo %s/%s is\n%s, want\n%s", foo.Namespace, foo.Name, got, want)
	}
	if s.broken != "" || reason != v1alpha1.ReasonNameTaken {
		return
	}
	if message := meta.FindStatusCondition(foo.Status.Conditions, v1alpha1.FooReady).Message; !strings.Contains(message, whose) {
		s.breaks("Foo %s/%s says %q, and its Deployment %s", foo.Namespace, foo.Name, message, whose)
	}
}

// finalReplicas is how many replicas a Foo has at rest, in all the Deployments that it
// controls.
func (s *sequence) finalReplicas(foo *v1alpha1.Foo) (sum int32) {
	for _, path := range s.paths("deployments") {
		deployment := typed[appsv1.Deployment](s, s.api.Get(path))
		if controllerOf(deployment) == foo.UID && deployment.Namespace == foo.Namespace {
			sum += wantedReplicas(deployment)
		}
	}
	return sum
}

func describe(status v1alpha1.FooStatus, generation int64) string {
	text := fmt.Sprintf("%d available, generation %d, %s", status.AvailableReplicas, status.ObservedGeneration, status.Selector)
	for _, conditionType := range []string{v1alpha1.FooReady, v1alpha1.FooProgressing} {
		condition := meta.FindStatusCondition(status.Conditions, conditionType)
		if condition == nil || condition.ObservedGeneration != generation {
			return text + ", no " + conditionType + " of this generation"
		}
		text += fmt.Sprintf(", %s %s %s", conditionType, condition.Status, condition.Reason)
	}
	return text
}

// checkStores: nobody has changed an object that a store holds, or has held.
func (s *sequence) checkStores() {
	for object, shared := range s.typed {
		same := false
		switch shared := shared.(type) {
		case *v1alpha1.Foo:
			same = equality.Semantic.DeepEqual(shared, decode[v1alpha1.Foo](s, object))
		case *appsv1.Deployment:
			same = equality.Semantic.DeepEqual(shared, decode[appsv1.Deployment](s, object))
		}
		if !same {
			s.breaks("%s/%s v%s was changed in a store", object.GetNamespace(), object.GetName(), object.GetResourceVersion())
		}
	}
}

func (s *sequence) checkFinalDeployment(deployment *appsv1.Deployment, foo *v1alpha1.Foo) {
	if foo.Spec.Replicas != nil && wantedReplicas(deployment) != *foo.Spec.Replicas {
		s.breaks("Deployment %s/%s has %d replicas, want %d", deployment.Namespace, deployment.Name, wantedReplicas(deployment), *foo.Spec.Replicas)
	}
	template := deployment.Spec.Template
	if template.Labels[uidLabel] != string(foo.UID) {
		s.breaks("Deployment %s/%s: labels of the Pods %v lack the UID", deployment.Namespace, deployment.Name, template.Labels)
	}
	for _, container := range template.Spec.Containers {
		if container.Name == ourPodName && container.Image == ourImage {
			return
		}
	}
	s.breaks("Deployment %s/%s lacks our container: %s", deployment.Namespace, deployment.Name, text(template.Spec.Containers))
}
