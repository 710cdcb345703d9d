package court

import (
	"context"
	"math"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/byhand/internal/tests/oracle"
)

// playDeployments does what the controller of Deployments does, in no time.
func (s *stage) playDeployments() {
	for s.ctx.Err() == nil && !s.ending.Load() {
		for _, d := range s.history.unfinished() {
			ctx, cancel := context.WithTimeout(s.ctx, 5*time.Second)
			// A conflict: the next version is on its way.
			_ = try(func() { s.play(ctx, d.DeepCopy()) })
			cancel()
		}
		s.pause(20 * time.Millisecond)
	}
}

// play finishes the rollout of a Deployment, or its deletion in the foreground: it has no
// Pods to wait for.
func (s *stage) play(ctx context.Context, d *appsv1.Deployment) {
	deployments := s.kube.AppsV1().Deployments(s.namespace)
	if d.DeletionTimestamp != nil {
		d.Finalizers = nil
		must(deployments.Update(ctx, d, metav1.UpdateOptions{}))
		return
	}
	n := s.history.mayHave(d)
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
	s.history.wrote(must(deployments.UpdateStatus(ctx, d, metav1.UpdateOptions{})))
}

// mayHave returns how many Pods a Deployment gets.
func (h *history) mayHave(d *appsv1.Deployment) int32 { return min(oracle.Replicas(d), h.most.Load()) }

// podsAtMost lets no Deployment have more Pods than that, as a quota does.
func podsAtMost(n int32, steps ...step) step {
	return func(s *stage) {
		s.history.most.Store(n)
		defer s.history.most.Store(math.MaxInt32)
		s.take(steps...)
	}
}

// unfinished returns the Deployments that wait for their controller.
func (h *history) unfinished() (all []*appsv1.Deployment) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, d := range h.deployments {
		if d.DeletionTimestamp != nil || d.Status.ObservedGeneration != d.Generation || d.Status.AvailableReplicas != h.mayHave(d) {
			all = append(all, d)
		}
	}
	return all
}
