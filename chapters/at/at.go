package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/controller"
)

// Reconciler runs each At at most once. All fields must be set, except Writes.
type Reconciler struct {
	// Client and Pods are the clients for its requests.
	Client *Client
	Pods   corev1client.PodsGetter
	// AtStore and PodStore are the cache: the informers' stores.
	AtStore, PodStore cache.Indexer
	// Now is the clock: time.Now, or a test's.
	Now func() time.Time
	// Writes holds the writes that the cache does not show yet.
	Writes controller.PendingWrites
}

// Reconcile implements controller.Reconcile. The status records the progress, and each call
// takes the next step.
func (r *Reconciler) Reconcile(ctx context.Context, key cache.ObjectName) (requeueAfter time.Duration, err error) {
	// Wait until the cache shows this process's own writes.
	if !r.Writes.Observed(key) {
		return controller.CacheRetry, nil
	}
	at, ok := get[*At](r.AtStore, key)
	if err := r.releasePods(ctx, key, at); err != nil {
		return 0, err
	}
	switch {
	case !ok || at.DeletionTimestamp != nil || at.Status.isFinished():
		// The garbage collector deletes the Pod of a deleted At.
		return 0, nil
	case at.Status.Phase == PhaseRunning && at.Status.PodUID != "":
		return r.followPod(ctx, at)
	case at.Status.Phase == PhaseRunning:
		return r.startPod(ctx, at)
	default:
		return r.awaitSchedule(ctx, at)
	}
}

// awaitSchedule is the step from PENDING to RUNNING. It creates no Pod: first one controller
// must have the claim.
func (r *Reconciler) awaitSchedule(ctx context.Context, at *At) (requeueAfter time.Duration, err error) {
	now := r.Now()
	schedule, err := time.Parse(time.RFC3339, at.Spec.Schedule)
	if err != nil {
		// Retrying does not help. The CRD's pattern admits invalid dates such as February 30.
		return 0, r.updateStatus(ctx, at, at.Status.failed(ReasonInvalidSchedule, err.Error(), now))
	}
	// Sub compares wall clocks, since a parsed time has no monotonic reading. It returns at most 292 years.
	if left := schedule.Sub(now); left > 0 {
		status := at.Status
		status.Phase = PhasePending
		return min(left, maxWait), r.updateStatus(ctx, at, status)
	}
	if isMissed(at, now) {
		return 0, r.updateStatus(ctx, at, at.Status.failed(ReasonMissed, missedMessage, now))
	}
	return 0, r.updateStatus(ctx, at, at.Status.started(podName(at), now))
}

// maxWait is the longest time between two reads of the clock: a timer does not notice a change
// of the clock.
const maxWait = time.Hour

// isMissed reports whether it is too late to start. It counts whole seconds: a large deadline
// would overflow a time.Duration.
func isMissed(at *At, now time.Time) bool {
	schedule, err := time.Parse(time.RFC3339, at.Spec.Schedule)
	deadline := at.Spec.StartingDeadlineSeconds
	return err == nil && deadline != nil && now.Unix()-schedule.Unix() > *deadline
}

const missedMessage = "startingDeadlineSeconds passed before the Pod could be created"

var errMissed = errors.New(missedMessage)

// startPod creates the Pod unless it exists, and records its UID.
func (r *Reconciler) startPod(ctx context.Context, at *At) (requeueAfter time.Duration, err error) {
	now := r.Now()
	if pod, ok := get[*corev1.Pod](r.PodStore, podKey(at)); ok && metav1.IsControlledBy(pod, at) {
		return 0, r.updateStatus(ctx, at, at.Status.seen(pod, now))
	}
	// Another process may have recorded a Pod that was deleted since. The cache may lack both changes.
	if behind, err := r.isBehind(ctx, at); behind || err != nil {
		return controller.CacheRetry, err
	}
	pod, err := r.createPod(ctx, at, now)
	status := at.Status
	switch {
	case err == nil && metav1.IsControlledBy(pod, at):
		r.Writes.Await(cache.MetaObjectToName(at), r.PodStore, pod)
		status = status.seen(pod, now)
	case err == nil:
		status = status.failed(ReasonNameTaken, fmt.Sprintf("Pod %s exists and is not controlled by this At", pod.Name), now)
	case errors.Is(err, errMissed):
		status = status.failed(ReasonMissed, missedMessage, now)
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return 0, nil // the At will be deleted, too
	case isInvalidPod(err):
		status = status.failed(ReasonInvalidPod, err.Error(), now)
	case controller.IsRejected(err):
		return 0, errors.Join(err, r.updateStatus(ctx, at, status.refused(err)))
	default:
		return 0, fmt.Errorf("create Pod %s: %w", podKey(at), err)
	}
	return 0, r.updateStatus(ctx, at, status)
}

// createPod creates the Pod and returns it, or returns the existing Pod of that name.
func (r *Reconciler) createPod(ctx context.Context, at *At, now time.Time) (*corev1.Pod, error) {
	pods := r.Pods.Pods(at.Namespace)
	missed := isMissed(at, now)
	if !missed {
		pod, err := whole(pods.Create(ctx, newPod(at), metav1.CreateOptions{}))
		if !apierrors.IsAlreadyExists(err) {
			return pod, err
		}
	}
	// The response to an earlier POST was lost, another controller was faster, or the Pod belongs
	// to another owner.
	pod, err := whole(pods.Get(ctx, at.Status.PodName, metav1.GetOptions{}))
	if missed && apierrors.IsNotFound(err) {
		return nil, errMissed
	}
	return pod, err
}

func podKey(at *At) cache.ObjectName {
	return cache.NewObjectName(at.Namespace, at.Status.PodName)
}

// isBehind reads the live At and reports whether the cache has an older version.
func (r *Reconciler) isBehind(ctx context.Context, at *At) (bool, error) {
	live, err := whole(r.Client.Get(ctx, at.Namespace, at.Name))
	if err != nil {
		return false, fmt.Errorf("get At %s/%s: %w", at.Namespace, at.Name, err)
	}
	if live.ResourceVersion == at.ResourceVersion {
		return false, nil
	}
	// Another process may have written it, but the cache must show it, too.
	r.Writes.Await(cache.MetaObjectToName(at), r.AtStore, live)
	return true, nil
}

// followPod records the Pod's result. It never creates a Pod.
func (r *Reconciler) followPod(ctx context.Context, at *At) (requeueAfter time.Duration, err error) {
	now := r.Now()
	pod, ok := get[*corev1.Pod](r.PodStore, podKey(at))
	if !ok || pod.UID != at.Status.PodUID {
		// The cache cannot prove that the Pod is gone: it may be stale, or the label was removed
		// from the Pod.
		live, err := whole(r.Pods.Pods(at.Namespace).Get(ctx, at.Status.PodName, metav1.GetOptions{}))
		switch {
		case apierrors.IsNotFound(err) || err == nil && live.UID != at.Status.PodUID:
			return 0, r.updateStatus(ctx, at, at.Status.failed(ReasonPodDeleted, "the Pod is gone", now))
		case err != nil:
			return 0, fmt.Errorf("get Pod %s: %w", podKey(at), err)
		}
		pod, requeueAfter = live, controller.CacheRetry
	}
	return requeueAfter, r.updateStatus(ctx, at, at.Status.seen(pod, now))
}

// releasePods removes the finalizer from a key's Pods that no status needs.
func (r *Reconciler) releasePods(ctx context.Context, key cache.ObjectName, at *At) error {
	for _, pod := range podsOf(r.PodStore, key) {
		if !isTracked(pod) {
			continue
		}
		needed, err := r.isNeeded(ctx, key, at, pod)
		if err != nil {
			return err
		}
		if needed {
			continue
		}
		released, err := whole(r.Pods.Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType,
			fmt.Appendf(nil, releasePatch, pod.UID), metav1.PatchOptions{}))
		if err == nil {
			r.Writes.Await(key, r.PodStore, released)
			continue
		}
		r.Writes.AwaitChange(key, r.PodStore, pod, err)
		if !apierrors.IsNotFound(err) {
			return fmt.Errorf("remove the finalizer of Pod %s/%s: %w", pod.Namespace, pod.Name, err)
		}
	}
	return nil
}

// isNeeded reports whether an At's status still has to record the Pod's result. at is the
// cached object under the key: nil, the Pod's At, or a new At of the same name.
func (r *Reconciler) isNeeded(ctx context.Context, key cache.ObjectName, at *At, pod *corev1.Pod) (bool, error) {
	uid := types.UID(pod.Labels[uidLabel])
	if at != nil && at.UID == uid {
		return at.DeletionTimestamp == nil && !at.Status.isFinished(), nil
	}
	if key.Name == "" {
		return false, nil // the Pod names no valid At, see atOf
	}
	// The At is gone, or the cache does not have it yet.
	live, err := whole(r.Client.Get(ctx, key.Namespace, key.Name))
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return live.UID == uid, err
}
