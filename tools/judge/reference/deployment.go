package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/tools/judge/reference/bugs"
)

var fooKind = v1alpha1.SchemeGroupVersion.WithKind("Foo")

// newDeployment is what a Foo asks for.
func newDeployment(foo *v1alpha1.Foo) *appsv1.Deployment {
	// The UID, and not the name: a label holds 63 characters, and another Foo may have the
	// same name later.
	labels := map[string]string{"foo-uid": string(foo.UID)}
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: foo.Namespace,
			// Always the same. So a second try finds what the first one has made.
			Name:            foo.Spec.DeploymentName,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(foo, fooKind)},
		},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "nginx", Image: "nginx:1.29"}}},
			},
		},
	}
	if has(bugs.NoOwner) {
		deployment.OwnerReferences = nil
	}
	if foo.Spec.Replicas != nil || has(bugs.CrashesOnNil) {
		deployment.Spec.Replicas = new(*foo.Spec.Replicas)
	}
	return deployment
}

// create creates the Deployment that the cache does not have. If there is one, the API
// server answers AlreadyExists, and the key is retried until the cache has it.
func (c *fooController) create(ctx context.Context, foo *v1alpha1.Foo) error {
	if err := c.verify(ctx, foo); err != nil {
		return err
	}
	deployment := newDeployment(foo)
	created, err := c.deployments.Deployments(foo.Namespace).Create(ctx, deployment, metav1.CreateOptions{})
	if noAnswer := err != nil && apierrors.ReasonForError(err) == metav1.StatusReasonUnknown; noAnswer && has(bugs.GeneratesNames) {
		deployment.Name, deployment.GenerateName = "", deployment.Name+"-"
		created, err = c.deployments.Deployments(foo.Namespace).Create(ctx, deployment, metav1.CreateOptions{})
	}
	if err != nil {
		return fmt.Errorf("create Deployment: %w", err)
	}
	c.made.Store(created.UID, true)
	if !metav1.IsControlledBy(created, foo) && !has(bugs.TrustsCreate) {
		return errUndone // It is not the Foo's: what the Foo has must stay.
	}
	return nil
}

// apply sets what differs from what the Foo asks for, the number and the containers, and
// reports whether anything did. The rest is the API server's defaults, or other people's.
func apply(deployment *appsv1.Deployment, foo *v1alpha1.Foo) (differs bool) {
	current, desired := &deployment.Spec, &newDeployment(foo).Spec
	if desired.Replicas != nil && *desired.Replicas != *current.Replicas && !has(bugs.IgnoresReplicas) {
		current.Replicas, differs = desired.Replicas, true
	}
	is, want := current.Template.Spec.Containers, desired.Template.Spec.Containers
	if (len(is) != 1 || is[0].Name != want[0].Name || is[0].Image != want[0].Image) && !has(bugs.IgnoresImage) {
		current.Template.Spec.Containers, differs = want, true
	}
	return differs
}

// errUndone says that others have changed what was written: a webhook or a policy on its way
// to the store, or another controller there.
var errUndone = errors.New("others change the Deployment back")

// undonePause is how long what was written is not written again, whatever event comes. One does
// come: that of the change.
const undonePause = 5 * time.Second

// update writes what differs.
func (c *fooController) update(ctx context.Context, s *state) error {
	differs := apply(s.deployment, s.foo)
	if !differs && !has(bugs.PollWrites) {
		return nil
	}
	wanted := fmt.Sprint(s.deployment.UID, s.foo.Generation)
	if at, ok := c.updated.Load(wanted); ok && differs && time.Since(at.(time.Time)) < undonePause {
		return errUndone
	}
	if err := c.verify(ctx, s.foo); err != nil {
		return err
	}
	// As in updateStatus, the API server refuses it if another client has written since.
	updated, err := c.deployments.Deployments(s.foo.Namespace).Update(ctx, s.deployment, metav1.UpdateOptions{})
	if err != nil {
		return fmt.Errorf("update Deployment: %w", err)
	}
	changed := apply(updated, s.foo)
	if !has(bugs.Insists) && (changed || !has(bugs.Fights)) {
		c.updated.Store(wanted, time.Now())
	}
	if changed {
		return errUndone
	}
	return nil
}

// says reports whether a Deployment has a condition.
func says(deployment *appsv1.Deployment, condition appsv1.DeploymentConditionType, status corev1.ConditionStatus) bool {
	return slices.ContainsFunc(deployment.Status.Conditions, func(c appsv1.DeploymentCondition) bool {
		return c.Type == condition && c.Status == status
	})
}

// deleteRenamed deletes the Deployments of earlier names. The garbage collector would wait
// until the Foo is deleted.
func (c *fooController) deleteRenamed(ctx context.Context, s *state) error {
	for _, old := range s.owned {
		if old.Name == s.foo.Spec.DeploymentName || old.DeletionTimestamp != nil {
			continue
		}
		if _, made := c.made.Load(old.UID); !made && has(bugs.RemembersNames) {
			continue
		}
		if err := c.verify(ctx, s.foo); err != nil {
			return err
		}
		// Only the one that the cache shows: not a newer one of that name.
		err := c.deployments.Deployments(old.Namespace).Delete(ctx, old.Name, metav1.DeleteOptions{
			Preconditions: &metav1.Preconditions{UID: &old.UID, ResourceVersion: &old.ResourceVersion},
		})
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("delete Deployment: %w", err)
		}
	}
	return nil
}
