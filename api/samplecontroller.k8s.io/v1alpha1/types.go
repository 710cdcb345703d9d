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
	// Replicas is the wanted number of replicas, 0 to 10. Without it, the Deployment's number
	// is left alone. A new one has 1. After a change of the name it has at least the old one's number
	// until that is deleted. Point an autoscaler at the Deployment then: the scale of such a Foo
	// cannot be read. With a number here, point it at the Foo: in the Deployment the
	// controller would undo its changes.
	Replicas *int32 `json:"replicas,omitempty"`
}

// FooStatus is what the controller last observed. It is written through the status
// subresource, a URL below the Foo's own, which leaves the spec alone.
type FooStatus struct {
	// Replicas is the observed number of replicas, the Deployment's status.replicas:
	// those that are not available yet count, too. The scale subresource reports it.
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
	// Conditions has one entry of this controller, Ready. Those of others are left alone, but
	// for fractions of a second in their times, and times that the CRD refuses.
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// FooReady is the type of a Foo's condition. It is True only if the Foo has the Deployment that
// its spec asks for, and each wanted replica of it, and no other, is available and of the newest
// template: during a rollout it is False. A write that is refused, or fails for long, makes it
// False, too, such as the deletion of a Deployment of an earlier name. One that is still being
// deleted does not count, nor do Pods that are terminating. Its reason is one of the words
// below. The status of a Foo that is being deleted stays as it was.
const FooReady = "Ready"

// The reasons of the condition Ready. With the first it is True, with all others False.
const (
	// ReasonAvailable: every wanted replica of the Deployment is available, and it has no other.
	ReasonAvailable = "Available"
	// ReasonWaitingForReplicas: the Deployment, or some replicas of it, are not yet as they
	// should be. The message says which. Nobody need act.
	ReasonWaitingForReplicas = "WaitingForReplicas"
	// ReasonWaitingForDeletion: a Deployment of this name is being deleted, or the Foo that controls
	// it is gone, and the garbage collector is to delete it. A new one is created when it is gone.
	ReasonWaitingForDeletion = "WaitingForDeletion"
	// ReasonNameTaken: the Deployment of this name is controlled by another object, or by
	// none. It is left alone.
	ReasonNameTaken = "NameTaken"
	// ReasonInvalidSpec: no Deployment can have this spec.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonForbidden: the API server refuses a request, because of a quota, a policy, a webhook
	// or a missing right. The message is the server's.
	ReasonForbidden = "Forbidden"
	// ReasonRequestFailed: requests have failed for some time in another way, as when a
	// webhook does not answer. The message is that of an error.
	ReasonRequestFailed = "RequestFailed"
	// ReasonChangedByOthers: the API server stored another value than the controller sent, and
	// the message names the field; or others change or delete what it stored, again and again.
	ReasonChangedByOthers = "ChangedByOthers"
	// ReasonNamespaceTerminating: the Foo needs a Deployment, and its namespace is being deleted.
	ReasonNamespaceTerminating = "NamespaceTerminating"
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
