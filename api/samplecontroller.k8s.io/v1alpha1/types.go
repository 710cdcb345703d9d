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
	// Replicas is the wanted number of replicas, 0 to 10. Without it, the Deployment's
	// number is left alone; a new Deployment has 1, the API server's default. An autoscaler
	// must then target the Deployment: reading the scale of such a Foo fails. With a number
	// here, it must target the Foo: the controller undoes what others set in the Deployment.
	Replicas *int32 `json:"replicas,omitempty"`
}

// FooStatus is what the controller last observed. It is written through the status
// subresource, a URL below the Foo's own, which leaves the spec alone.
type FooStatus struct {
	// Replicas is the observed number of replicas, the Deployment's status.replicas:
	// those that are not available yet count, too. The scale subresource reports it.
	// A Foo that cannot have the Deployment that it names counts the ones that it
	// still controls.
	Replicas int32 `json:"replicas,omitempty"`
	// AvailableReplicas is how many of status.replicas are available.
	AvailableReplicas int32 `json:"availableReplicas"`
	// ObservedGeneration is the metadata.generation that this status was computed for.
	// While it is smaller than the Foo's own, the controller has not acted on the newest
	// spec.
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// ObservedDeploymentVersion is the resourceVersion of the Deployment that this status
	// was computed from. A store with an older version is stale.
	ObservedDeploymentVersion string `json:"observedDeploymentVersion,omitempty"`
	// Selector selects the Pods of this Foo by their labels. An autoscaler reads it.
	Selector string `json:"selector,omitempty"`
	// Conditions holds at most one entry per type: Ready and Progressing.
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// The types of a Foo's conditions. Their reason is one of the words below.
const (
	// FooReady is True while the Deployment has all the replicas it should have.
	FooReady = "Ready"
	// FooProgressing is True while the Foo becomes ready without help. It is False when
	// the Foo is ready, and when a person must act.
	FooProgressing = "Progressing"
)

// The reasons of a Foo's conditions.
const (
	// ReasonAvailable: every wanted replica is available.
	ReasonAvailable = "Available"
	// ReasonWaitingForReplicas: the Deployment is right, some replicas are not available
	// yet.
	ReasonWaitingForReplicas = "WaitingForReplicas"
	// ReasonWaitingForDeletion: a Deployment of this name is being deleted. A new one is
	// created when it is gone.
	ReasonWaitingForDeletion = "WaitingForDeletion"
	// ReasonNameTaken: the Deployment of this name is controlled by another object, or by
	// none. It is left alone.
	ReasonNameTaken = "NameTaken"
	// ReasonForbidden: the API server refuses to write the Deployment: a quota, a policy,
	// a webhook, or a right that the controller lacks. The message is the server's. The
	// controller retries.
	ReasonForbidden = "Forbidden"
	// ReasonInvalidSpec: no Deployment can have this spec. The spec must be changed.
	ReasonInvalidSpec = "InvalidSpec"
)

// FooList is the reply to a list request.
type FooList struct {
	metav1.TypeMeta `json:""`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Foo `json:"items"`
}
