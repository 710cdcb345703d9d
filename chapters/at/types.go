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

// AtSpec is what the owner of an At asks for. It cannot be changed once the phase is no
// longer PENDING.
type AtSpec struct {
	// Schedule is when to run, in RFC 3339, with an offset from UTC: 2026-01-02T15:04:05Z
	// or 2026-01-02T16:04:05+01:00. A time that is over means at once.
	//
	// It is a string and not a metav1.Time: see the caveats in doc.go.
	Schedule string `json:"schedule"`
	// Containers run side by side in one Pod.
	Containers []AtContainer `json:"containers"`
	// StartingDeadlineSeconds is how late the Pod may be created. After that the At fails.
	// Without it the Pod is created however late it is.
	StartingDeadlineSeconds *int64 `json:"startingDeadlineSeconds,omitempty"`
}

// AtContainer is one container of the Pod.
type AtContainer struct {
	// Name is the name of the container, a DNS label.
	Name string `json:"name"`
	// Image is the image that the container runs.
	Image string `json:"image"`
	// Command replaces the entrypoint of the image. Each argument is an item of its own: no
	// shell splits it.
	Command []string `json:"command,omitempty"`
	// Args are the arguments of the command, or of the entrypoint of the image.
	Args []string `json:"args,omitempty"`
}

// AtStatus is what the controller has done and seen.
type AtStatus struct {
	// Phase is PENDING, RUNNING, DONE or FAILED.
	Phase Phase `json:"phase,omitempty"`
	// Reason is one word for why the phase is what it is.
	Reason Reason `json:"reason,omitempty"`
	// Message says the same to people.
	Message string `json:"message,omitempty"`
	// PodName is the name that the Pod gets.
	PodName string `json:"podName,omitempty"`
	// PodUID is the UID of the Pod. Once it is there, no Pod is created any more.
	PodUID types.UID `json:"podUID,omitempty"`
	// StartTime is when the phase became RUNNING.
	StartTime *metav1.Time `json:"startTime,omitempty"`
	// CompletionTime is when the phase became DONE or FAILED.
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`
}

// Phase is how far an At is. It only moves forward.
type Phase string

const (
	// PhasePending: it is not time yet. "" means the same.
	PhasePending Phase = "PENDING"
	// PhaseRunning: it is time. The Pod is created, or will be.
	PhaseRunning Phase = "RUNNING"
	// PhaseDone: every container has ended with exit code 0.
	PhaseDone Phase = "DONE"
	// PhaseFailed: it has failed, and is never tried again.
	PhaseFailed Phase = "FAILED"
)

// Reason is why an At has failed, or why it does not go on.
type Reason string

const (
	// ReasonInvalidSchedule: the schedule is no time.
	ReasonInvalidSchedule Reason = "InvalidSchedule"
	// ReasonMissed: startingDeadlineSeconds were over before a Pod was created.
	ReasonMissed Reason = "Missed"
	// ReasonNameTaken: another owner's Pod, or one without, has the name.
	ReasonNameTaken Reason = "NameTaken"
	// ReasonInvalidPod: no Pod can be like this. The message says why.
	ReasonInvalidPod Reason = "InvalidPod"
	// ReasonForbidden: the API server refuses to create the Pod: a quota, a policy, a webhook
	// or a missing right. The controller retries; the phase stays RUNNING.
	ReasonForbidden Reason = "Forbidden"
	// ReasonPodDeleted: the Pod was deleted before it had ended.
	ReasonPodDeleted Reason = "PodDeleted"
	// ReasonPodFailed: the Pod has ended, and a container of it not with exit code 0.
	ReasonPodFailed Reason = "PodFailed"
)

// AtList is the reply to a list request.
type AtList struct {
	metav1.TypeMeta `json:""`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []At `json:"items"`
}
