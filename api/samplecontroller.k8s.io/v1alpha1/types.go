package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Foo asks for one Deployment in its own namespace. Users write the spec; the
// controller writes the status.
type Foo struct {
	metav1.TypeMeta   `json:""`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   FooSpec   `json:"spec"`
	Status FooStatus `json:"status"`
}

// FooSpec is the desired state of a Foo.
type FooSpec struct {
	// DeploymentName is the name of the Deployment that this Foo controls. After a
	// change, a new Deployment is created and the old one is deleted.
	DeploymentName string `json:"deploymentName"`
	// Replicas is the desired number of replicas, 0 to 10. Without it, the controller does not
	// change the Deployment's replicas. A new Deployment starts with 1 replica; after a change of
	// the name it starts with the old Deployment's replicas.
	//
	// Without Replicas, an autoscaler must target the Deployment, because a GET of the Foo's scale
	// fails. With Replicas, it must target the Foo, because the controller reverts changes of the
	// Deployment.
	Replicas *int32 `json:"replicas,omitempty"`
}

// FooStatus is what the controller last observed. It is written through the status
// subresource, which leaves the spec alone.
type FooStatus struct {
	// Replicas is the observed number of replicas, the Deployment's status.replicas,
	// including replicas that are not available yet. The scale subresource reports it.
	// After a change of spec.deploymentName, the Deployments with earlier names count until the
	// Foo controls the new one.
	Replicas int32 `json:"replicas,omitempty"`
	// AvailableReplicas is how many of status.replicas are available.
	AvailableReplicas int32 `json:"availableReplicas"`
	// ObservedGeneration is the metadata.generation of the spec that the controller read. While it
	// is smaller than metadata.generation, the status describes an earlier spec.
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Selector selects the Pods of this Foo by their labels. An autoscaler reads it.
	Selector string `json:"selector,omitempty"`
	// Conditions has one condition of this controller, Ready. The controller keeps the conditions of
	// other clients, but truncates their times to whole seconds.
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// FooReady is the type of a Foo's condition. It is True only if the Deployment matches the spec and
// has exactly the desired replicas, all available and from the newest template. Any rejected or failed
// write also makes it False, even the deletion of a Deployment with an earlier name. Terminating
// Pods and old Deployments that are being deleted do not count. The status of a Foo that is being
// deleted does not change.
const FooReady = "Ready"

// The reasons of the condition Ready. With the first it is True, with all others False.
const (
	// ReasonAvailable: every desired replica is available, and the Deployment has no other replicas.
	ReasonAvailable = "Available"
	// ReasonWaitingForReplicas: replicas are not ready yet. No action is needed.
	ReasonWaitingForReplicas = "WaitingForReplicas"
	// ReasonWaitingForDeletion: the Deployment with this name is being deleted, or its Foo is gone and
	// the garbage collector will delete it. The controller then creates a new Deployment.
	ReasonWaitingForDeletion = "WaitingForDeletion"
	// ReasonNameTaken: the Deployment with this name has a different controller, or no controller. It
	// stays unchanged.
	ReasonNameTaken = "NameTaken"
	// ReasonInvalidSpec: no Deployment can have this spec.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonForbidden: the API server rejects a request, because of a quota, a policy, a webhook,
	// a missing permission or the deletion of the namespace. The message is the server's.
	ReasonForbidden = "Forbidden"
	// ReasonRequestFailed: a request failed in another way, for example because a webhook does not
	// answer.
	ReasonRequestFailed = "RequestFailed"
	// ReasonChangedByOthers: the API server stored a different value than the controller sent, and
	// the message names the field. Or other clients change or delete the Deployment repeatedly: the
	// controller has written it four times for this spec, each within a minute of
	// the previous one. The condition changes when the Deployment has stayed the same for a minute.
	ReasonChangedByOthers = "ChangedByOthers"
	// ReasonReplicaFailure: the Deployment reports that its Pods or its ReplicaSet cannot be
	// created, as when a quota is used up. The message is the Deployment's.
	ReasonReplicaFailure = "ReplicaFailure"
	// ReasonProgressDeadlineExceeded: the Deployment reports that its rollout makes no
	// progress. The message is the Deployment's.
	ReasonProgressDeadlineExceeded = "ProgressDeadlineExceeded"
)

// FooList is the response to a list request.
type FooList struct {
	metav1.TypeMeta `json:""`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Foo `json:"items"`
}
