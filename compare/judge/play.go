package main

import (
	"context"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/byhand/internal/testkit/oracle"
)

// playDeployments does what the controller of Deployments does, in no time.
func (s *stage) playDeployments() {
	for s.ctx.Err() == nil && !s.isEnding() {
		for _, d := range s.history.unfinished() {
			ctx, cancel := context.WithTimeout(s.ctx, 5*time.Second)
			// A conflict: the next version is on its way.
			_ = s.play(ctx, d.DeepCopy())
			cancel()
		}
		_ = s.pause(20 * time.Millisecond)
	}
}

// play finishes the rollout of a Deployment, or its deletion in the foreground: it has no
// Pods to wait for.
func (s *stage) play(ctx context.Context, d *appsv1.Deployment) error {
	deployments := s.kube.AppsV1().Deployments(s.namespace)
	if d.DeletionTimestamp != nil {
		d.Finalizers = nil
		_, err := deployments.Update(ctx, d, metav1.UpdateOptions{})
		return err
	}
	n := oracle.Replicas(d)
	d.Status = appsv1.DeploymentStatus{ObservedGeneration: d.Generation, Replicas: n, UpdatedReplicas: n, ReadyReplicas: n, AvailableReplicas: n}
	updated, err := deployments.UpdateStatus(ctx, d, metav1.UpdateOptions{})
	return s.history.wrote(updated, err)
}

// unfinished returns the Deployments that wait for their controller.
func (h *history) unfinished() (all []*appsv1.Deployment) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, d := range h.deployments {
		if d.DeletionTimestamp != nil || d.Status.ObservedGeneration != d.Generation || d.Status.AvailableReplicas != oracle.Replicas(d) {
			all = append(all, d)
		}
	}
	return all
}
