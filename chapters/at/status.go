package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// These return the next status. None changes its receiver.

// started returns the claim: if two controllers write it, only one of them succeeds.
func (s AtStatus) started(podName string, now time.Time) AtStatus {
	s.Phase, s.PodName, s.StartTime = PhaseRunning, podName, &metav1.Time{Time: now}
	return s
}

// seen returns the status with the Pod and its result.
func (s AtStatus) seen(pod *corev1.Pod, now time.Time) AtStatus {
	s.PodUID, s.Reason, s.Message = pod.UID, "", ""
	switch {
	case pod.Status.Phase == corev1.PodSucceeded:
		s.Phase, s.CompletionTime = PhaseDone, &metav1.Time{Time: now}
	case pod.Status.Phase == corev1.PodFailed:
		return s.failed(ReasonPodFailed, strings.TrimSpace("the Pod has failed "+pod.Status.Reason+" "+pod.Status.Message), now)
	case pod.DeletionTimestamp != nil:
		// Do not wait until the Pod ends: if its node is gone, no kubelet reports the end.
		return s.failed(ReasonPodDeleted, "the Pod was deleted before it ended", now)
	}
	return s
}

func (s AtStatus) failed(reason Reason, message string, now time.Time) AtStatus {
	s.Phase, s.Reason, s.Message, s.CompletionTime = PhaseFailed, reason, cut(message), &metav1.Time{Time: now}
	return s
}

// refused reports that the API server rejects the Pod. It keeps the first message: the next one may
// differ in a number, and each change of the status enqueues the key at once.
func (s AtStatus) refused(err error) AtStatus {
	if s.Reason != ReasonForbidden {
		s.Reason, s.Message = ReasonForbidden, cut(err.Error())
	}
	return s
}

func (s AtStatus) isFinished() bool { return s.Phase == PhaseDone || s.Phase == PhaseFailed }

// maxMessage limits a message, in bytes.
const maxMessage = 1024

func cut(message string) string {
	return strings.ToValidUTF8(message[:min(len(message), maxMessage)], "")
}

// isInvalidPod reports whether a field of the Pod is invalid, so that no API server accepts it. A
// policy without a reason also returns 422, but names no field, and the policy may change.
func isInvalidPod(err error) bool {
	status := apierrors.APIStatus(nil)
	return apierrors.IsInvalid(err) && errors.As(err, &status) && status.Status().Details != nil &&
		slices.ContainsFunc(status.Status().Details.Causes, func(cause metav1.StatusCause) bool { return cause.Field != "" })
}

// updateStatus writes a status that differs. The PUT carries at's resourceVersion: if the At was
// written since, the API server rejects it with Conflict.
func (r *Reconciler) updateStatus(ctx context.Context, at *At, status AtStatus) error {
	if equality.Semantic.DeepEqual(at.Status, status) {
		return nil
	}
	// at belongs to the cache: change only a copy.
	desired := at.DeepCopy()
	desired.Status = status
	updated, err := whole(r.Client.UpdateStatus(ctx, desired))
	if err != nil {
		r.Writes.AwaitChange(cache.MetaObjectToName(at), r.AtStore, at, err)
		return fmt.Errorf("update status of At %s/%s: %w", at.Namespace, at.Name, err)
	}
	r.Writes.Await(cache.MetaObjectToName(at), r.AtStore, updated)
	return nil
}
