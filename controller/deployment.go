package controller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

// fooKind is for the owner references of our Deployments. A Foo does not say its kind: a
// client clears apiVersion and kind of what it decodes (clientset/scheme.go).
var fooKind = v1alpha1.SchemeGroupVersion.WithKind("Foo")

// uidLabel ties Pods to their Foo. Its value is the UID and not the name: a label
// value holds 63 characters, a name may have 253.
const uidLabel = v1alpha1.GroupName + "/foo-uid"

// The container of each Deployment.
const (
	containerName  = "nginx"
	containerImage = "nginx:1.29"
)

// syncDeployment compares the Foo's Deployment with the Foo's spec, sends what differs and
// keeps the answer in the state. Its errors are errCacheBehind, a *changedError, or the
// API server's. For a Foo that is blocked it sends nothing.
func (r *FooReconciler) syncDeployment(ctx context.Context, s *fooState) error {
	var err error
	switch {
	case s.blocked != nil:
		return nil
	case s.deployment == nil:
		err = r.createDeployment(ctx, s)
	default:
		err = r.updateDeployment(ctx, s)
	}
	if _, changed := errors.AsType[*changedError](err); err != nil && !changed {
		return err
	}
	// The new Deployment first: if it is refused (a quota), the old one still runs.
	return cmp.Or(err, r.deleteRenamed(ctx, s))
}

// createDeployment creates the Deployment that the cache does not have.
func (r *FooReconciler) createDeployment(ctx context.Context, s *fooState) error {
	// A Foo that had one may be gone, and its Deployment after it (doc.go, Deletion).
	if len(s.foo.Status.Conditions) > 0 && len(s.owned) == 0 {
		if err := r.verifyFoo(ctx, s); err != nil {
			return err
		}
	}
	deployments := r.Deployments.Deployments(s.foo.Namespace)
	created, err := deployments.Create(ctx, newDeployment(s.foo), metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		// It exists but is not in the cache yet: decide once it is.
		var live *appsv1.Deployment
		if live, err = deployments.Get(ctx, s.foo.Spec.DeploymentName, metav1.GetOptions{}); err == nil {
			r.Writes.Wrote(s.key, r.DeploymentStore, live)
			return errCacheBehind
		}
	}
	if err != nil {
		return fmt.Errorf("create Deployment %s/%s: %w", s.foo.Namespace, s.foo.Spec.DeploymentName, err)
	}
	r.Writes.Wrote(s.key, r.DeploymentStore, created)
	s.deployment = created // If a webhook changed it, the next reconcile finds out.
	r.Events.Eventf(s.foo, corev1.EventTypeNormal, "Created", "Created Deployment %s", created.Name)
	return nil
}

// updateDeployment writes the fields that differ, if any do.
func (r *FooReconciler) updateDeployment(ctx context.Context, s *fooState) error {
	// s.deployment is the cache's: never change it, change a copy. The copy keeps the
	// resourceVersion: optimistic locking.
	before, desired := s.deployment, s.deployment.DeepCopy()
	if applyDesired(desired, s.foo) == "" {
		return nil
	}
	updated, err := r.Deployments.Deployments(s.foo.Namespace).Update(ctx, desired, metav1.UpdateOptions{})
	if err != nil {
		r.Writes.Outdated(s.key, r.DeploymentStore, before, err)
		return fmt.Errorf("update Deployment %s/%s: %w", s.foo.Namespace, before.Name, err)
	}
	r.Writes.Wrote(s.key, r.DeploymentStore, updated)
	s.deployment = updated
	if field := applyDesired(updated.DeepCopy(), s.foo); field != "" {
		return &changedError{fmt.Sprintf("update Deployment %s/%s: %s is not as it was sent: does an admission webhook change it?", s.foo.Namespace, before.Name, field)}
	}
	if was, is := before.Spec.Replicas, updated.Spec.Replicas; was != nil && is != nil && *was != *is {
		r.Events.Eventf(s.foo, corev1.EventTypeNormal, "Scaled", "Scaled Deployment %s from %d to %d", updated.Name, *was, *is)
	} else {
		r.Events.Eventf(s.foo, corev1.EventTypeNormal, "Updated", "Updated Deployment %s", updated.Name)
	}
	return nil
}

// verifyFoo asks the API server whether the Foo is still the one in the cache. If not, the
// watch of Foos is behind and it returns errCacheBehind. Only the spec counts: each change
// of that, and the deletion, raises the generation.
func (r *FooReconciler) verifyFoo(ctx context.Context, s *fooState) error {
	live, err := r.Foos.Foos(s.foo.Namespace).Get(ctx, s.foo.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		r.Writes.Outdated(s.key, r.FooStore, s.foo, err)
		return errCacheBehind
	case err != nil:
		return fmt.Errorf("get Foo %s/%s: %w", s.foo.Namespace, s.foo.Name, err)
	case live.UID != s.foo.UID || live.Generation != s.foo.Generation:
		r.Writes.Wrote(s.key, r.FooStore, live)
		return errCacheBehind
	default:
		return nil
	}
}

// validate refuses a spec that no Deployment can have. Our CRD does, too, but a cluster may
// have another one.
func validate(foo *v1alpha1.Foo) *report {
	if len(validation.NameIsDNSSubdomain(foo.Spec.DeploymentName, false)) > 0 {
		return &report{v1alpha1.ReasonInvalidSpec, fmt.Sprintf("spec.deploymentName: %q is not a name that a Deployment can have", foo.Spec.DeploymentName)}
	}
	if foo.Spec.Replicas != nil && *foo.Spec.Replicas < 0 {
		return &report{v1alpha1.ReasonInvalidSpec, fmt.Sprintf("spec.replicas: %d is less than 0", *foo.Spec.Replicas)}
	}
	return nil
}

// checkController refuses a Deployment that the Foo, by its UID, does not control.
func checkController(deployment *appsv1.Deployment, foo *v1alpha1.Foo) *report {
	controller := metav1.GetControllerOfNoCopy(deployment)
	switch {
	case controller == nil:
		return notControlled(deployment, "has no controller")
	case controller.UID == foo.UID && deployment.DeletionTimestamp == nil:
		return nil
	case controller.UID == foo.UID, isKind(controller, fooKind.GroupKind()) && controller.Name == foo.Name:
		// It is being deleted, or the garbage collector is about to delete it: its owner was
		// an earlier Foo of this name.
		return &report{v1alpha1.ReasonWaitingForDeletion, fmt.Sprintf("Deployment %q is being deleted, a new one will follow", deployment.Name)}
	default:
		return notControlled(deployment, fmt.Sprintf("is controlled by %s %q", controller.Kind, controller.Name))
	}
}

func notControlled(deployment *appsv1.Deployment, whose string) *report {
	return &report{v1alpha1.ReasonNameTaken, fmt.Sprintf("Deployment %q exists and %s: delete it or change spec.deploymentName", deployment.Name, whose)}
}

// newDeployment returns the Deployment to create for a Foo.
func newDeployment(foo *v1alpha1.Foo) *appsv1.Deployment {
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{
			Name:      foo.Spec.DeploymentName,
			Namespace: foo.Namespace,
			// The Foo controls it, and the garbage collector deletes it after the Foo.
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(foo, fooKind)},
		},
		// Which Pods are the Deployment's. It can never be changed.
		Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: podLabels(foo)}},
	}
	applyDesired(deployment, foo)
	return deployment
}

// applyDesired sets the fields that this controller decides. The others stay: the API server's
// defaults, and what autoscalers and people have set. It returns the name of a field that
// differed, "" if none did. A comparison of whole Deployments by reflection takes ten times
// as long (BenchmarkApplyDesired).
func applyDesired(deployment *appsv1.Deployment, foo *v1alpha1.Foo) (differed string) {
	// nil leaves the number to others, such as an autoscaler.
	if current, desired := deployment.Spec.Replicas, foo.Spec.Replicas; desired != nil && (current == nil || *current != *desired) {
		deployment.Spec.Replicas, differed = new(*desired), "spec.replicas"
	}
	template := &deployment.Spec.Template
	for label, value := range podLabels(foo) {
		if template.Labels[label] != value {
			metav1.SetMetaDataLabel(&template.ObjectMeta, label, value)
			differed = "spec.template.metadata.labels"
		}
	}
	containers := &template.Spec.Containers
	ours := slices.IndexFunc(*containers, func(c corev1.Container) bool { return c.Name == containerName })
	if ours < 0 {
		ours = len(*containers)
		*containers = append(*containers, corev1.Container{Name: containerName})
	}
	if container := &(*containers)[ours]; container.Image != containerImage {
		container.Image, differed = containerImage, "spec.template.spec.containers"
	}
	return differed
}

func podLabels(foo *v1alpha1.Foo) map[string]string {
	return map[string]string{uidLabel: string(foo.UID)}
}
