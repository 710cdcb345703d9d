package stage

import (
	"context"
	"math"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/byhand/internal/tests/oracle"
)

// playDeployments plays the controller of Deployments, without delays.
func (s *Stage) playDeployments() {
	for s.Ctx.Err() == nil && !s.ending.Load() {
		for _, d := range s.History.Unfinished() {
			ctx, cancel := context.WithTimeout(s.Ctx, 5*time.Second)
			// After a conflict the next version arrives soon.
			_ = Try(func() { s.play(ctx, d.DeepCopy()) })
			cancel()
		}
		s.Pause(20 * time.Millisecond)
	}
}

// play finishes the rollout of a Deployment, or its foreground deletion: it has no Pods to wait for.
func (s *Stage) play(ctx context.Context, d *appsv1.Deployment) {
	deployments := s.Kube.AppsV1().Deployments(s.Namespace)
	if d.DeletionTimestamp != nil {
		d.Finalizers = nil
		Must(deployments.Update(ctx, d, metav1.UpdateOptions{}))
		return
	}
	n := s.History.MayHave(d)
	d.Status = appsv1.DeploymentStatus{ObservedGeneration: d.Generation, Replicas: n, UpdatedReplicas: n, ReadyReplicas: n, AvailableReplicas: n}
	if d.Spec.Paused { // Its template was changed.
		d.Status.UpdatedReplicas = 0
	}
	switch {
	case n == 0 && oracle.Replicas(d) > 0:
		d.Status.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse, Reason: "ReplicaSetCreateError", Message: "replicasets.apps are forbidden: exceeded quota"}}
	case n < oracle.Replicas(d):
		d.Status.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Reason: "FailedCreate", Message: "pods are forbidden: exceeded quota"}}
	}
	s.History.Wrote(Must(deployments.UpdateStatus(ctx, d, metav1.UpdateOptions{})))
}

// PodsAtMost takes steps while each Deployment has at most n Pods, like a quota.
func PodsAtMost(n int32, steps ...Step) Step {
	return func(s *Stage) {
		s.History.Most.Store(n)
		defer s.History.Most.Store(math.MaxInt32)
		s.Take(steps...)
	}
}
