package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Foo asks for one Deployment in its own namespace. Users write the spec, the
// controller writes the status.
type Foo struct {
	metav1.TypeMeta   `json:""`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   FooSpec   `json:"spec"`
	Status FooStatus `json:"status"`
}

// FooSpec is what the owner of a Foo asks for.
type FooSpec struct {
	// DeploymentName is the name of the Deployment that this Foo controls. After a
	// change, a new Deployment is created and the old one is deleted.
	DeploymentName string `json:"deploymentName"`
	// Replicas is the wanted number of replicas, 0 to 10. Without it, the controller leaves the
	// Deployment's number alone. A new Deployment starts with 1 replica, or after a change of the
	// name with the old Deployment's number.
	//
	// Without a number here, an autoscaler must target the Deployment: the scale of such a Foo
	// cannot be read. With a number, it must target the Foo: the controller reverts changes of the
	// Deployment.
	Replicas *int32 `json:"replicas,omitempty"`
}

// FooStatus is what the controller last observed. It is written through the status
// subresource, a URL below the Foo's own, which leaves the spec alone.
type FooStatus struct {
	// Replicas is the observed number of replicas, the Deployment's status.replicas,
	// including replicas that are not available yet. The scale subresource reports it.
	// A Foo that does not control the Deployment that it names counts the ones that it
	// controls under earlier names.
	Replicas int32 `json:"replicas,omitempty"`
	// AvailableReplicas is how many of status.replicas are available.
	AvailableReplicas int32 `json:"availableReplicas"`
	// ObservedGeneration is the metadata.generation of the spec that the controller had read.
	// While it is smaller than the Foo's own, the rest is about an earlier spec.
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Selector selects the Pods of this Foo by their labels. An autoscaler reads it.
	Selector string `json:"selector,omitempty"`
	// Conditions has one entry of this controller, Ready. It leaves the conditions of other clients
	// alone, except for fractions of a second in their times.
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// FooReady is the type of a Foo's condition. It is True only if the Foo has the Deployment that
// its spec asks for, and each wanted replica of it, and no other, is available and of the newest
// template: during a rollout it is False. A rejected or failed write also makes it False, such as
// the deletion of a Deployment with an earlier name. Terminating Pods do not count, and neither do
// old Deployments that are being deleted. Its reason is one of the words below. The status of a Foo
// that is being deleted does not change any more.
const FooReady = "Ready"

// The reasons of the condition Ready. With the first it is True, with all others False.
const (
	// ReasonAvailable: every wanted replica of the Deployment is available, and it has no other.
	ReasonAvailable = "Available"
	// ReasonWaitingForReplicas: the Deployment, or some replicas of it, are not ready
	// yet. The message says which. No action is needed.
	ReasonWaitingForReplicas = "WaitingForReplicas"
	// ReasonWaitingForDeletion: a Deployment of this name is being deleted, or the Foo that controls
	// it is gone, and the garbage collector is to delete it. A new one is created when it is gone.
	ReasonWaitingForDeletion = "WaitingForDeletion"
	// ReasonNameTaken: the Deployment of this name is controlled by another object, or by
	// none. It is left alone.
	ReasonNameTaken = "NameTaken"
	// ReasonInvalidSpec: no Deployment can have this spec.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonForbidden: the API server rejects a request, because of a quota, a policy, a webhook,
	// a missing right or the deletion of the namespace. The message is the server's.
	ReasonForbidden = "Forbidden"
	// ReasonRequestFailed: a request failed in another way, for example because a webhook does not
	// answer. The message is the error.
	ReasonRequestFailed = "RequestFailed"
	// ReasonChangedByOthers: the API server stored a different value than the controller sent, and
	// the message names the field. Or other clients change or delete the Deployment repeatedly: the
	// controller has written it four times for this spec, each within a minute of
	// the last. It ends when the Deployment has stayed the same for a minute.
	ReasonChangedByOthers = "ChangedByOthers"
	// ReasonReplicaFailure: the Deployment reports that its Pods or its ReplicaSet cannot be
	// created, as when a quota is used up. The message is the Deployment's.
	ReasonReplicaFailure = "ReplicaFailure"
	// ReasonProgressDeadlineExceeded: the Deployment reports that its rollout makes no
	// progress. The message is the Deployment's.
	ReasonProgressDeadlineExceeded = "ProgressDeadlineExceeded"
)

// FooList is the reply to a list request.
type FooList struct {
	metav1.TypeMeta `json:""`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Foo `json:"items"`
}
