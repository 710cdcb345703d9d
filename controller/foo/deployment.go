package foo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/controller"
)

// fooKind is the kind in owner references. Clients clear apiVersion and kind when they decode an object
// (clientset/scheme.go).
var fooKind = v1alpha1.SchemeGroupVersion.WithKind("Foo")

// uidLabel selects the Pods of a Foo. Its value is the UID, not the name: a label value has at most
// 63 characters, a name has up to 253.
const uidLabel = v1alpha1.GroupName + "/foo-uid"

const containerName, containerImage = "nginx", "nginx:1.29"

// syncDeployment makes the Deployment match the spec, then deletes the Deployments with earlier names.
// It returns the Deployment that the spec names, or nil if not found.
func (r *Reconciler) syncDeployment(ctx context.Context, foo *v1alpha1.Foo, owned []*appsv1.Deployment) (*appsv1.Deployment, error) {
	// Half of the timeout: if a request hangs, the status can still report it.
	ctx, cancel := context.WithTimeout(ctx, controller.ReconcileTimeout/2)
	defer cancel()

	deployment, err := r.createOrUpdate(ctx, foo, owned)
	if err != nil {
		return deployment, err // Keep the old Deployments until the new one exists.
	}
	// Rewrites reports a fight with another client until no repeated write comes for a minute.
	return deployment, errors.Join(r.deleteRenamed(ctx, foo, owned),
		cmp.Or(r.Rewrites.Err(foo, "Deployment"), r.Rewrites.Err(foo, "deletion")))
}

func (r *Reconciler) createOrUpdate(ctx context.Context, foo *v1alpha1.Foo, owned []*appsv1.Deployment) (*appsv1.Deployment, error) {
	deployment, exists := get[*appsv1.Deployment](r.DeploymentStore, cache.NewObjectName(foo.Namespace, foo.Spec.DeploymentName))
	if err := validate(foo); err != nil {
		return deployment, err
	}
	if !exists {
		return r.createDeployment(ctx, foo, owned)
	}
	if err := r.checkHolder(deployment, foo); err != nil {
		return deployment, err
	}
	if len(differences(deployment, foo)) > 0 {
		return r.updateDeployment(ctx, foo, deployment)
	}
	return deployment, nil
}

func (r *Reconciler) createDeployment(ctx context.Context, foo *v1alpha1.Foo, owned []*appsv1.Deployment) (*appsv1.Deployment, error) {
	if foo.Status.ObservedGeneration > 0 {
		// The Foo is not new. It may have been deleted together with its Deployment, while the cache still
		// shows the Foo (rename.go).
		if err := r.confirmFoo(ctx, foo); err != nil {
			return nil, fmt.Errorf("create Deployment %s: %w", foo.Spec.DeploymentName, err)
		}
	}
	created, err := r.Deployments.Deployments(foo.Namespace).Create(ctx, newDeployment(foo, owned), metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("create Deployment %s: %w", foo.Spec.DeploymentName, err)
	}
	return created, r.recordWrite(foo, created, "Created", "Created Deployment "+created.Name)
}

// newDeployment returns the Deployment of a Foo. Because of the owner reference, the garbage collector
// deletes it after the Foo.
func newDeployment(foo *v1alpha1.Foo, owned []*appsv1.Deployment) *appsv1.Deployment {
	labels := map[string]string{uidLabel: string(foo.UID)}
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       foo.Namespace,
			Name:            foo.Spec.DeploymentName,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(foo, fooKind)},
		},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}},
		},
	}
	for _, old := range owned {
		if old.DeletionTimestamp == nil { // A rename keeps the replicas that an autoscaler has set.
			deployment.Spec.Replicas = old.Spec.Replicas
		}
	}
	applySpec(deployment, foo)
	return deployment
}

func (r *Reconciler) updateDeployment(ctx context.Context, foo *v1alpha1.Foo, deployment *appsv1.Deployment) (*appsv1.Deployment, error) {
	desired := deployment.DeepCopy() // With its resourceVersion: if the API server has a newer one, it returns a Conflict.
	applySpec(desired, foo)
	updated, err := r.Deployments.Deployments(foo.Namespace).Update(ctx, desired, metav1.UpdateOptions{})
	if err != nil {
		r.Writes.AwaitChange(cache.MetaObjectToName(foo), r.DeploymentStore, deployment, err)
		return deployment, fmt.Errorf("update Deployment %s: %w", deployment.Name, err)
	}
	return updated, r.recordWrite(foo, updated, "Updated", fmt.Sprintf("Updated Deployment %s: %s", updated.Name, strings.Join(differences(deployment, foo), ", ")))
}

// recordWrite records a successful write. It returns an error if a webhook has changed a field.
func (r *Reconciler) recordWrite(foo *v1alpha1.Foo, response *appsv1.Deployment, reason, note string) error {
	r.Writes.Await(cache.MetaObjectToName(foo), r.DeploymentStore, response)
	r.Rewrites.Record(foo, "Deployment", nil)
	if fields := differences(response, foo); len(fields) > 0 {
		return fmt.Errorf("write Deployment %s: %s: %w", response.Name, strings.Join(fields, ", "), controller.ErrReverted)
	}
	r.Events.Eventf(foo, response, corev1.EventTypeNormal, reason, "Reconcile", "%s", note)
	return nil
}

// applySpec sets the image, and the replicas if the Foo's spec has them. All other fields keep the values of the
// API server, of users and of other controllers.
func applySpec(deployment *appsv1.Deployment, foo *v1alpha1.Foo) {
	if foo.Spec.Replicas != nil { // nil leaves the number to an autoscaler.
		deployment.Spec.Replicas = new(*foo.Spec.Replicas)
	}
	if findContainer(deployment) == nil {
		pod := &deployment.Spec.Template.Spec
		pod.Containers = append(pod.Containers, corev1.Container{Name: containerName})
	}
	findContainer(deployment).Image = containerImage
}

// differences returns the fields that an update by the controller would change.
func differences(deployment *appsv1.Deployment, foo *v1alpha1.Foo) (fields []string) {
	if !metav1.IsControlledBy(deployment, foo) {
		fields = append(fields, "metadata.ownerReferences")
	}
	if foo.Spec.Replicas != nil && ptr.Deref(deployment.Spec.Replicas, 1) != *foo.Spec.Replicas {
		fields = append(fields, "spec.replicas")
	}
	if container := findContainer(deployment); container == nil || container.Image != containerImage {
		fields = append(fields, "spec.template.spec.containers")
	}
	return fields
}

// findContainer returns the container whose image the controller sets, or nil if not found.
func findContainer(deployment *appsv1.Deployment) *corev1.Container {
	containers := deployment.Spec.Template.Spec.Containers
	i := slices.IndexFunc(containers, func(c corev1.Container) bool { return c.Name == containerName })
	if i < 0 {
		return nil
	}
	return &containers[i]
}
