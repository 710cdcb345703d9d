package foo

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/controller"
)

// blockedError says why a Foo cannot have its Deployment until a user or the garbage collector acts.
// Its reason becomes the reason of the condition.
type blockedError struct{ reason, message string }

func (e *blockedError) Error() string { return e.message }

func blocked(reason, format string, args ...any) error {
	return &blockedError{reason, fmt.Sprintf(format, args...)}
}

// validate rejects a spec that no Deployment can have. Our CRD rejects it, too, but a cluster may have a
// different one.
func validate(foo *v1alpha1.Foo) error {
	if len(validation.NameIsDNSSubdomain(foo.Spec.DeploymentName, false)) > 0 {
		return blocked(v1alpha1.ReasonInvalidSpec, "spec.deploymentName: %q is not a valid name for a Deployment", foo.Spec.DeploymentName)
	}
	if foo.Spec.Replicas != nil && *foo.Spec.Replicas < 0 {
		return blocked(v1alpha1.ReasonInvalidSpec, "spec.replicas: %d is less than 0", *foo.Spec.Replicas)
	}
	return nil
}

// checkHolder returns why foo cannot use the Deployment that its spec names, or nil if it can. The controller
// never writes a Deployment whose controller reference does not have the Foo's UID.
func (r *Reconciler) checkHolder(deployment *appsv1.Deployment, foo *v1alpha1.Foo) error {
	owner := metav1.GetControllerOfNoCopy(deployment)
	switch {
	case deployment.DeletionTimestamp != nil:
		return blocked(v1alpha1.ReasonWaitingForDeletion, "Deployment %q is being deleted: a new one is created when the name is free", deployment.Name)
	case owner == nil:
		return blocked(v1alpha1.ReasonNameTaken, "Deployment %q exists and has no controller: delete it or change spec.deploymentName", deployment.Name)
	case owner.UID == foo.UID:
		return nil
	}
	other, exists := get[*v1alpha1.Foo](r.FooStore, cache.NewObjectName(deployment.Namespace, owner.Name))
	if controller.IsKind(owner, fooKind.GroupKind()) && (!exists || other.UID != owner.UID) {
		return blocked(v1alpha1.ReasonWaitingForDeletion, "Deployment %q belongs to a deleted Foo: a new one is created when the name is free", deployment.Name)
	}
	return blocked(v1alpha1.ReasonNameTaken, "Deployment %q exists and is controlled by %s %q: delete it or change spec.deploymentName", deployment.Name, owner.Kind, owner.Name)
}
