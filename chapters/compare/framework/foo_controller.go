package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

const (
	// ownerKey is the index of Deployments by the UID of their controller.
	ownerKey = ".metadata.controller"
	// podLabel connects Pods to their Foo.
	podLabel = v1alpha1.GroupName + "/foo-uid"
	// takenRetry is how often a Foo checks whether a name has become free: an event of a
	// Deployment that a Foo does not control does not enqueue the Foos that name it.
	takenRetry = 30 * time.Second
)

// Reasons why CreateOrUpdate does not write a Deployment.
var (
	errTaken   = errors.New("the Deployment is not controlled by this Foo")
	errLeaving = errors.New("the Deployment is being deleted")
)

// FooReconciler reconciles a Foo object.
type FooReconciler struct {
	client.Client
	Scheme   *runtime.Scheme
	Recorder events.EventRecorder
}

// +kubebuilder:rbac:groups=samplecontroller.k8s.io,resources=foos,verbs=get;list;watch
// +kubebuilder:rbac:groups=samplecontroller.k8s.io,resources=foos/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=samplecontroller.k8s.io,resources=foos/finalizers,verbs=update
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Reconcile gives a Foo its Deployment and reports the result in the Foo's status.
func (r *FooReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	foo := &v1alpha1.Foo{}
	if err := r.Get(ctx, req.NamespacedName, foo); err != nil {
		// Deleted: the garbage collector follows the owner reference.
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !foo.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}

	deployment, err := r.applyDeployment(ctx, foo)
	if err != nil {
		return r.refused(ctx, foo, err)
	}
	if err := r.deleteRenamed(ctx, foo); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, r.updateStatus(ctx, foo, stateOf(deployment))
}

// applyDeployment creates the Foo's Deployment, or updates its differences. It returns
// errTaken or errLeaving for a Deployment that must not be written.
func (r *FooReconciler) applyDeployment(ctx context.Context, foo *v1alpha1.Foo) (*appsv1.Deployment, error) {
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: foo.Namespace, Name: foo.Spec.DeploymentName}}
	operation, err := controllerutil.CreateOrUpdate(ctx, r.Client, deployment, func() error {
		if exists := deployment.ResourceVersion != ""; exists && !metav1.IsControlledBy(deployment, foo) {
			return errTaken
		}
		if !deployment.DeletionTimestamp.IsZero() {
			return errLeaving
		}
		setFields(deployment, foo)
		return controllerutil.SetControllerReference(foo, deployment, r.Scheme)
	})
	if err != nil {
		return nil, fmt.Errorf("apply Deployment %s: %w", client.ObjectKeyFromObject(deployment), err)
	}
	switch operation {
	case controllerutil.OperationResultCreated:
		r.Recorder.Eventf(foo, deployment, corev1.EventTypeNormal, "Created", "Create", "Created Deployment %s", deployment.Name)
	case controllerutil.OperationResultUpdated:
		r.Recorder.Eventf(foo, deployment, corev1.EventTypeNormal, "Updated", "Update", "Updated Deployment %s", deployment.Name)
	}
	return deployment, nil
}

// setFields sets the fields that a Foo decides and leaves the rest unchanged: the API
// server's defaults must not look like a difference.
func setFields(deployment *appsv1.Deployment, foo *v1alpha1.Foo) {
	if foo.Spec.Replicas != nil {
		deployment.Spec.Replicas = new(*foo.Spec.Replicas)
	}
	if deployment.Spec.Selector == nil {
		deployment.Spec.Selector = &metav1.LabelSelector{MatchLabels: podLabels(foo)}
	}
	template := &deployment.Spec.Template
	for label, value := range podLabels(foo) {
		metav1.SetMetaDataLabel(&template.ObjectMeta, label, value)
	}
	for i := range template.Spec.Containers {
		if template.Spec.Containers[i].Name == "nginx" {
			template.Spec.Containers[i].Image = "nginx:1.29"
			return
		}
	}
	template.Spec.Containers = append(template.Spec.Containers, corev1.Container{Name: "nginx", Image: "nginx:1.29"})
}

func podLabels(foo *v1alpha1.Foo) map[string]string {
	return map[string]string{podLabel: string(foo.UID)}
}

// deleteRenamed deletes the Deployments that this Foo controls under a name that its
// spec no longer has.
func (r *FooReconciler) deleteRenamed(ctx context.Context, foo *v1alpha1.Foo) error {
	owned, err := r.ownedDeployments(ctx, foo)
	if err != nil {
		return err
	}
	for i := range owned.Items {
		old := &owned.Items[i]
		if old.Name == foo.Spec.DeploymentName || !old.DeletionTimestamp.IsZero() {
			continue
		}
		err := r.Delete(ctx, old, client.Preconditions{UID: &old.UID, ResourceVersion: &old.ResourceVersion},
			client.PropagationPolicy(metav1.DeletePropagationBackground))
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete Deployment %s: %w", client.ObjectKeyFromObject(old), err)
		}
		r.Recorder.Eventf(foo, old, corev1.EventTypeNormal, "Deleted", "Delete", "Deleted Deployment %s, the name is now %s", old.Name, foo.Spec.DeploymentName)
	}
	return nil
}

// ownedDeployments lists the Deployments that this Foo controls.
func (r *FooReconciler) ownedDeployments(ctx context.Context, foo *v1alpha1.Foo) (*appsv1.DeploymentList, error) {
	owned := &appsv1.DeploymentList{}
	// A Deployment that the cache lacks has an event that enqueues this Foo again, so it
	// is not necessary to wait for other workers' writes.
	if err := r.List(ctx, owned, client.InNamespace(foo.Namespace), client.MatchingFields{ownerKey: string(foo.UID)},
		client.DisableReadYourWritesConsistency); err != nil {
		return nil, fmt.Errorf("list the Deployments of Foo %s: %w", client.ObjectKeyFromObject(foo), err)
	}
	return owned, nil
}

// refused handles the API server's rejection of the Deployment.
func (r *FooReconciler) refused(ctx context.Context, foo *v1alpha1.Foo, err error) (ctrl.Result, error) {
	name := foo.Spec.DeploymentName
	switch {
	case errors.Is(err, errLeaving):
		// Its deletion's event enqueues this Foo again.
		return ctrl.Result{}, r.updateBlocked(ctx, foo, state{reason: v1alpha1.ReasonWaitingForDeletion,
			message: fmt.Sprintf("Deployment %q is being deleted: a new one is created when the name is free", name)})
	case errors.Is(err, errTaken):
		return ctrl.Result{RequeueAfter: takenRetry}, r.stuck(ctx, foo, v1alpha1.ReasonNameTaken,
			fmt.Sprintf("Deployment %q exists and is not controlled by this Foo", name))
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return ctrl.Result{}, nil
	case apierrors.IsForbidden(err), apierrors.IsInvalid(err):
		// A policy without a reason answers with Invalid, too.
		return ctrl.Result{}, errors.Join(err, r.stuck(ctx, foo, v1alpha1.ReasonForbidden,
			fmt.Sprintf("the API server refuses to write Deployment %q", name)))
	default:
		return ctrl.Result{}, err
	}
}

// stuck writes the status of a Foo that needs a user's help, and records one Event.
func (r *FooReconciler) stuck(ctx context.Context, foo *v1alpha1.Foo, reason, message string) error {
	before := meta.FindStatusCondition(foo.Status.Conditions, v1alpha1.FooReady)
	told := before != nil && before.Reason == reason && before.Message == message
	if err := r.updateBlocked(ctx, foo, state{reason: reason, message: message}); err != nil {
		return err
	}
	if !told {
		r.Recorder.Eventf(foo, nil, corev1.EventTypeWarning, reason, "Reconcile", "%s", message)
	}
	return nil
}

// updateBlocked writes the status of a Foo that cannot have its Deployment now. The replicas
// are counted in the Deployments that it still controls.
func (r *FooReconciler) updateBlocked(ctx context.Context, foo *v1alpha1.Foo, s state) error {
	owned, err := r.ownedDeployments(ctx, foo)
	if err != nil {
		return err
	}
	for _, deployment := range owned.Items {
		s.replicas += deployment.Status.Replicas
		s.available += deployment.Status.AvailableReplicas
	}
	return r.updateStatus(ctx, foo, s)
}

// state is the content of a status.
type state struct {
	replicas, available int32
	reason, message     string
}

func stateOf(deployment *appsv1.Deployment) state {
	wanted := ptr.Deref(deployment.Spec.Replicas, 1)
	s := state{replicas: deployment.Status.Replicas, available: deployment.Status.AvailableReplicas,
		reason: v1alpha1.ReasonWaitingForReplicas}
	s.message = fmt.Sprintf("%d of %d replicas are available", s.available, wanted)
	if s.available >= wanted && deployment.Status.ObservedGeneration >= deployment.Generation {
		s.reason = v1alpha1.ReasonAvailable
	}
	return s
}

func (r *FooReconciler) updateStatus(ctx context.Context, foo *v1alpha1.Foo, s state) error {
	before := foo.Status.DeepCopy()
	foo.Status.Replicas, foo.Status.AvailableReplicas = s.replicas, s.available
	foo.Status.ObservedGeneration = foo.Generation
	foo.Status.Selector = labels.SelectorFromSet(podLabels(foo)).String()
	ready := metav1.Condition{Type: v1alpha1.FooReady, Status: metav1.ConditionFalse, ObservedGeneration: foo.Generation, Reason: s.reason, Message: s.message}
	if s.reason == v1alpha1.ReasonAvailable {
		ready.Status = metav1.ConditionTrue
	}
	meta.SetStatusCondition(&foo.Status.Conditions, ready)
	if equality.Semantic.DeepEqual(*before, foo.Status) {
		return nil
	}
	if err := r.Status().Update(ctx, foo); err != nil {
		return fmt.Errorf("update status of Foo %s: %w", client.ObjectKeyFromObject(foo), err)
	}
	return nil
}

// SetupWithManager sets up the controller with the Manager.
func (r *FooReconciler) SetupWithManager(ctx context.Context, mgr ctrl.Manager) error {
	if err := mgr.GetFieldIndexer().IndexField(ctx, &appsv1.Deployment{}, ownerKey, controllerUID); err != nil {
		return fmt.Errorf("index Deployments by their controller: %w", err)
	}
	return ctrl.NewControllerManagedBy(mgr).
		// Changes of the status, such as our own, are not reconciled.
		For(&v1alpha1.Foo{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Owns(&appsv1.Deployment{}).
		Named("foo").
		Complete(r)
}

func controllerUID(object client.Object) []string {
	owner := metav1.GetControllerOf(object)
	if owner == nil {
		return nil
	}
	return []string{string(owner.UID)}
}
