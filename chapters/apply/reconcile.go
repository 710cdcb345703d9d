package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	appsv1client "k8s.io/client-go/kubernetes/typed/apps/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/csaupgrade"
	"k8s.io/klog/v2"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1/applyconfiguration"
	"example.com/byhand/clientset"
)

// manager is the name under which the API server records this program's fields. It must
// never change: an apply under a new name does not remove fields owned under the old one.
const manager = "byhand-apply"

// errAnother reports a response that is not the written object: a client does not check the kind.
var errAnother = errors.New("the response is a different object")

// reconciler gives each Foo its Deployment. All fields must be set.
type reconciler struct {
	foos        clientset.FoosGetter
	deployments appsv1client.DeploymentsGetter
	fooStore    cache.Store // the informer's Store
	way         string      // update, merge, strategic or apply
	force       bool        // if way is apply
}

// Reconcile implements controller.Reconcile.
func (r *reconciler) Reconcile(ctx context.Context, key cache.ObjectName) (requeueAfter time.Duration, err error) {
	stored, exists, err := r.fooStore.GetByKey(key.String())
	if err != nil || !exists || stored.(*v1alpha1.Foo).DeletionTimestamp != nil {
		return 0, err
	}
	foo := stored.(*v1alpha1.Foo)

	// The informer's Store has no managedFields, so read the Deployment. The read also protects another
	// owner's Deployment from the first apply.
	client := r.deployments.Deployments(foo.Namespace)
	live, err := client.Get(ctx, foo.Spec.DeploymentName, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err): // live is empty
	case err != nil:
		return 0, fmt.Errorf("get the Deployment of Foo %s: %w", key, err)
	case !metav1.IsControlledBy(live, foo) || live.DeletionTimestamp != nil:
		return 0, fmt.Errorf("the Deployment of Foo %s belongs to another owner, or is being deleted", key)
	}
	written, err := r.write(ctx, client, live, desired(foo))
	switch {
	case apierrors.HasStatusCause(err, metav1.CauseTypeFieldManagerConflict):
		// Do not retry: the response would be the same until the other owner writes the Deployment,
		// and that is an event.
		klog.FromContext(ctx).Info("Nothing is applied", "key", key, "reason", err)
		return 0, nil
	case err != nil:
		return 0, fmt.Errorf("write the Deployment of Foo %s, --way=%s: %w", key, r.way, err)
	case !metav1.IsControlledBy(written, foo):
		return 0, fmt.Errorf("write the Deployment of Foo %s, --way=%s: %w", key, r.way, errAnother)
	case foo.Status.ObservedGeneration == foo.Generation:
		return 0, nil
	}

	// The Foo is done. Repeating this from a stale cache changes nothing.
	status := applyconfiguration.Foo(foo.Name, foo.Namespace)
	status.Status = &applyconfiguration.FooStatusApplyConfiguration{ObservedGeneration: &foo.Generation}
	applied, err := r.foos.Foos(foo.Namespace).ApplyStatus(ctx, status, metav1.ApplyOptions{FieldManager: manager, Force: true})
	if err == nil && applied.Status.ObservedGeneration != foo.Generation {
		err = errAnother
	}
	return 0, err
}

// desired is exactly what a Foo asks for: this manager will own each field set here.
func desired(foo *v1alpha1.Foo) *appsv1ac.DeploymentApplyConfiguration {
	labels := map[string]string{"foo-uid": string(foo.UID)}
	pod := corev1ac.PodSpec().WithContainers(corev1ac.Container().WithName("nginx").WithImage("nginx:1.29"))
	spec := appsv1ac.DeploymentSpec().WithSelector(metav1ac.LabelSelector().WithMatchLabels(labels)).
		WithTemplate(corev1ac.PodTemplateSpec().WithLabels(labels).WithSpec(pod))
	spec.Replicas = foo.Spec.Replicas // nil leaves the number to others
	return appsv1ac.Deployment(foo.Spec.DeploymentName, foo.Namespace).WithSpec(spec).
		WithOwnerReferences(metav1ac.OwnerReference().WithAPIVersion(v1alpha1.SchemeGroupVersion.String()).WithKind("Foo").
			WithName(foo.Name).WithUID(foo.UID).WithController(true).WithBlockOwnerDeletion(true))
}

// write updates a Deployment to config and returns the API server's version. live is empty
// if it does not exist. write sends nothing if nothing differs.
func (r *reconciler) write(ctx context.Context, client appsv1client.DeploymentInterface, live *appsv1.Deployment, config *appsv1ac.DeploymentApplyConfiguration) (*appsv1.Deployment, error) {
	options := metav1.PatchOptions{FieldManager: manager}
	if r.way == "apply" {
		patch, err := editOwners(live, config.Spec.Replicas == nil)
		if err == nil && patch != nil {
			live, err = client.Patch(ctx, live.Name, types.JSONPatchType, patch, options)
		}
		if err != nil {
			return nil, err
		}
		// The fields this manager owns. It no longer owns a field that another manager has changed.
		owned, err := appsv1ac.ExtractDeployment(live, manager)
		if err != nil || equality.Semantic.DeepEqual(owned, config) {
			return live, err
		}
		return client.Apply(ctx, config, metav1.ApplyOptions{FieldManager: manager, Force: r.force})
	}
	wanted, document, err := merged(live, config)
	switch {
	case err != nil || equality.Semantic.DeepEqual(live, wanted):
		return live, err
	case live.UID == "":
		return client.Create(ctx, wanted, metav1.CreateOptions{FieldManager: manager})
	case r.way == "update":
		// wanted has live's resourceVersion: if another client has written since, it is rejected.
		return client.Update(ctx, wanted, metav1.UpdateOptions{FieldManager: manager})
	case r.way == "merge":
		// The document's list replaces the list: containers of other clients are lost.
		return client.Patch(ctx, live.Name, types.MergePatchType, document, options)
	default:
		return client.Patch(ctx, live.Name, types.StrategicMergePatchType, document, options)
	}
}

// merged returns live with config's fields merged in, and config as JSON. Lists are merged by
// their keys, as the API server does for a strategic merge patch.
func merged(live *appsv1.Deployment, config *appsv1ac.DeploymentApplyConfiguration) (wanted *appsv1.Deployment, document []byte, err error) {
	document, wrong := json.Marshal(config)
	before, err := json.Marshal(live)
	after, failed := strategicpatch.StrategicMergePatch(before, document, live)
	wanted = &appsv1.Deployment{}
	err = errors.Join(wrong, err, failed, json.Unmarshal(after, wanted))
	wanted.TypeMeta = live.TypeMeta // clients clear it
	return wanted, document, err
}

// editOwners returns a JSON Patch of managedFields, nil if no edit is needed:
//
//   - Fields that this program wrote by Update or a patch become applied. Otherwise it owns
//     them twice, and a field that it stops applying stays.
//   - If it gives the number of replicas away, it gives up the ownership. Otherwise the next
//     apply removes the number, and the default is 1. The next client to write it owns it.
//
// If another client writes in between, the API server answers Conflict.
func editOwners(live *appsv1.Deployment, givesReplicas bool) ([]byte, error) {
	edited := live.DeepCopy()
	if err := csaupgrade.UpgradeManagedFields(edited, sets.New(manager), manager); err != nil {
		return nil, err
	}
	for i, entry := range edited.ManagedFields {
		if givesReplicas && entry.Manager == manager && entry.Operation == metav1.ManagedFieldsOperationApply {
			// No other field of an applied Deployment has this name. A comma may precede or follow it.
			remove := strings.NewReplacer(`,"f:replicas":{}`, "", `"f:replicas":{},`, "", `"f:replicas":{}`, "")
			edited.ManagedFields[i].FieldsV1 = metav1.NewFieldsV1(remove.Replace(entry.FieldsV1.GetRawString()))
		}
	}
	if equality.Semantic.DeepEqual(live.ManagedFields, edited.ManagedFields) {
		return nil, nil
	}
	return json.Marshal([]map[string]any{
		// A failed test is answered with 422. Replacing the resourceVersion yields a Conflict instead.
		{"op": "replace", "path": "/metadata/resourceVersion", "value": live.ResourceVersion},
		{"op": "replace", "path": "/metadata/managedFields", "value": edited.ManagedFields},
	})
}
