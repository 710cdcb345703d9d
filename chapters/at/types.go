package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// At asks for containers that run once, at a time. Users write the spec, the controller
// writes the status.
type At struct {
	metav1.TypeMeta   `json:""`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   AtSpec   `json:"spec"`
	Status AtStatus `json:"status"`
}

// AtSpec is the desired state. It is immutable once the phase is no longer PENDING.
type AtSpec struct {
	// Schedule is when to run, in RFC 3339, with an offset from UTC: 2026-01-02T15:04:05Z
	// or 2026-01-02T16:04:05+01:00. A time in the past means at once.
	//
	// It is a string and not a metav1.Time: see the caveats in doc.go.
	Schedule string `json:"schedule"`
	// Containers run together in one Pod.
	Containers []AtContainer `json:"containers"`
	// StartingDeadlineSeconds is how late the Pod may be created. After that the At fails.
	// If unset, there is no limit.
	StartingDeadlineSeconds *int64 `json:"startingDeadlineSeconds,omitempty"`
}

// AtContainer is one container of the Pod.
type AtContainer struct {
	// Name is the container's name, a DNS label.
	Name string `json:"name"`
	// Image is the container's image.
	Image string `json:"image"`
	// Command replaces the image's entrypoint. Each argument is a separate item: no shell
	// splits it.
	Command []string `json:"command,omitempty"`
	// Args are the arguments of the command, or of the image's entrypoint.
	Args []string `json:"args,omitempty"`
}

// AtStatus is the observed state, written by the controller.
type AtStatus struct {
	// Phase is PENDING, RUNNING, DONE or FAILED.
	Phase Phase `json:"phase,omitempty"`
	// Reason is one word that explains the phase.
	Reason Reason `json:"reason,omitempty"`
	// Message explains the reason in words.
	Message string `json:"message,omitempty"`
	// PodName is the name of the Pod.
	PodName string `json:"podName,omitempty"`
	// PodUID is the Pod's UID. Once it is set, no Pod is created.
	PodUID types.UID `json:"podUID,omitempty"`
	// StartTime is when the phase became RUNNING.
	StartTime *metav1.Time `json:"startTime,omitempty"`
	// CompletionTime is when the phase became DONE or FAILED.
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`
}

// Phase is the progress of an At. It only moves forward.
type Phase string

const (
	// PhasePending: the time has not come. "" means the same.
	PhasePending Phase = "PENDING"
	// PhaseRunning: the time has come. The Pod exists, or will be created.
	PhaseRunning Phase = "RUNNING"
	// PhaseDone: every container has exited with code 0.
	PhaseDone Phase = "DONE"
	// PhaseFailed: it has failed, and is never retried.
	PhaseFailed Phase = "FAILED"
)

// Reason is why an At has failed, or why it makes no progress.
type Reason string

const (
	// ReasonInvalidSchedule: the schedule is not a valid time.
	ReasonInvalidSchedule Reason = "InvalidSchedule"
	// ReasonMissed: startingDeadlineSeconds passed before a Pod was created.
	ReasonMissed Reason = "Missed"
	// ReasonNameTaken: a Pod that this At does not control has the name.
	ReasonNameTaken Reason = "NameTaken"
	// ReasonInvalidPod: the Pod is invalid. The message says why.
	ReasonInvalidPod Reason = "InvalidPod"
	// ReasonForbidden: the API server rejects the Pod because of a quota, a policy, a webhook
	// or a missing permission. The controller retries; the phase stays RUNNING.
	ReasonForbidden Reason = "Forbidden"
	// ReasonPodDeleted: the Pod was deleted before it ended.
	ReasonPodDeleted Reason = "PodDeleted"
	// ReasonPodFailed: a container has exited with a code other than 0.
	ReasonPodFailed Reason = "PodFailed"
)

// AtList is the response to a list request.
type AtList struct {
	metav1.TypeMeta `json:""`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []At `json:"items"`
}
