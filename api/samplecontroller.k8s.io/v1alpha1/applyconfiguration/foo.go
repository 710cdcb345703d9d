package applyconfiguration

import (
	"k8s.io/apimachinery/pkg/types"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

// FooApplyConfiguration is a Foo of which any part may be left out.
type FooApplyConfiguration struct {
	metav1ac.TypeMetaApplyConfiguration    `json:""`
	*metav1ac.ObjectMetaApplyConfiguration `json:"metadata,omitempty"`

	Spec   *FooSpecApplyConfiguration   `json:"spec,omitempty"`
	Status *FooStatusApplyConfiguration `json:"status,omitempty"`
}

// Foo begins a configuration of the Foo with this name.
func Foo(name, namespace string) *FooApplyConfiguration {
	b := &FooApplyConfiguration{}
	b.Kind, b.APIVersion = new("Foo"), new(v1alpha1.SchemeGroupVersion.String())
	return b.WithName(name).WithNamespace(namespace)
}

// WithSpec sets spec. The value is kept, not copied.
func (b *FooApplyConfiguration) WithSpec(value *FooSpecApplyConfiguration) *FooApplyConfiguration {
	b.Spec = value
	return b
}

// WithStatus sets status. The value is kept, not copied. Apply ignores it,
// ApplyStatus sends it to where it counts.
func (b *FooApplyConfiguration) WithStatus(value *FooStatusApplyConfiguration) *FooApplyConfiguration {
	b.Status = value
	return b
}

// FooSpecApplyConfiguration is a FooSpec of which any field may be left out.
type FooSpecApplyConfiguration struct {
	DeploymentName *string `json:"deploymentName,omitempty"`
	Replicas       *int32  `json:"replicas,omitempty"`
}

// FooSpec begins an empty configuration of a FooSpec.
func FooSpec() *FooSpecApplyConfiguration { return &FooSpecApplyConfiguration{} }

// WithDeploymentName sets spec.deploymentName.
func (b *FooSpecApplyConfiguration) WithDeploymentName(value string) *FooSpecApplyConfiguration {
	b.DeploymentName = &value
	return b
}

// WithReplicas sets spec.replicas.
func (b *FooSpecApplyConfiguration) WithReplicas(value int32) *FooSpecApplyConfiguration {
	b.Replicas = &value
	return b
}

// FooStatusApplyConfiguration is a FooStatus of which any field may be left out.
type FooStatusApplyConfiguration struct {
	Replicas           *int32                                 `json:"replicas,omitempty"`
	AvailableReplicas  *int32                                 `json:"availableReplicas,omitempty"`
	ObservedGeneration *int64                                 `json:"observedGeneration,omitempty"`
	Selector           *string                                `json:"selector,omitempty"`
	Conditions         []metav1ac.ConditionApplyConfiguration `json:"conditions,omitempty"`
}

// FooStatus begins an empty configuration of a FooStatus.
func FooStatus() *FooStatusApplyConfiguration { return &FooStatusApplyConfiguration{} }

// WithReplicas sets status.replicas.
func (b *FooStatusApplyConfiguration) WithReplicas(value int32) *FooStatusApplyConfiguration {
	b.Replicas = &value
	return b
}

// WithAvailableReplicas sets status.availableReplicas.
func (b *FooStatusApplyConfiguration) WithAvailableReplicas(value int32) *FooStatusApplyConfiguration {
	b.AvailableReplicas = &value
	return b
}

// WithObservedGeneration sets status.observedGeneration.
func (b *FooStatusApplyConfiguration) WithObservedGeneration(value int64) *FooStatusApplyConfiguration {
	b.ObservedGeneration = &value
	return b
}

// WithSelector sets status.selector.
func (b *FooStatusApplyConfiguration) WithSelector(value string) *FooStatusApplyConfiguration {
	b.Selector = &value
	return b
}

// WithConditions adds to status.conditions. It panics on nil.
func (b *FooStatusApplyConfiguration) WithConditions(values ...*metav1ac.ConditionApplyConfiguration) *FooStatusApplyConfiguration {
	for _, value := range values {
		b.Conditions = append(b.Conditions, *value)
	}
	return b
}

// The setters below fill in metadata. A setter that is called again replaces what
// it set before; those that take several values add to them.

// WithName sets metadata.name.
func (b *FooApplyConfiguration) WithName(value string) *FooApplyConfiguration {
	b.metadata().WithName(value)
	return b
}

// WithNamespace sets metadata.namespace.
func (b *FooApplyConfiguration) WithNamespace(value string) *FooApplyConfiguration {
	b.metadata().WithNamespace(value)
	return b
}

// WithUID sets metadata.uid. The server refuses the request if the object has
// another one.
func (b *FooApplyConfiguration) WithUID(value types.UID) *FooApplyConfiguration {
	b.metadata().WithUID(value)
	return b
}

// WithResourceVersion sets metadata.resourceVersion. The server refuses the request
// with a Conflict if the object has another one.
func (b *FooApplyConfiguration) WithResourceVersion(value string) *FooApplyConfiguration {
	b.metadata().WithResourceVersion(value)
	return b
}

// WithLabels adds to metadata.labels.
func (b *FooApplyConfiguration) WithLabels(entries map[string]string) *FooApplyConfiguration {
	b.metadata().WithLabels(entries)
	return b
}

// WithAnnotations adds to metadata.annotations.
func (b *FooApplyConfiguration) WithAnnotations(entries map[string]string) *FooApplyConfiguration {
	b.metadata().WithAnnotations(entries)
	return b
}

// WithOwnerReferences adds to metadata.ownerReferences. It panics on nil.
func (b *FooApplyConfiguration) WithOwnerReferences(values ...*metav1ac.OwnerReferenceApplyConfiguration) *FooApplyConfiguration {
	b.metadata().WithOwnerReferences(values...)
	return b
}

// WithFinalizers adds to metadata.finalizers.
func (b *FooApplyConfiguration) WithFinalizers(values ...string) *FooApplyConfiguration {
	b.metadata().WithFinalizers(values...)
	return b
}

// GetKind returns kind, nil if it is not set.
func (b *FooApplyConfiguration) GetKind() *string { return b.Kind }

// GetAPIVersion returns apiVersion, nil if it is not set.
func (b *FooApplyConfiguration) GetAPIVersion() *string { return b.APIVersion }

// GetName returns metadata.name, nil if it is not set.
func (b *FooApplyConfiguration) GetName() *string { return b.metadata().Name }

// GetNamespace returns metadata.namespace, nil if it is not set.
func (b *FooApplyConfiguration) GetNamespace() *string { return b.metadata().Namespace }

// IsApplyConfiguration makes this a runtime.ApplyConfiguration.
func (b FooApplyConfiguration) IsApplyConfiguration() {}

func (b *FooApplyConfiguration) metadata() *metav1ac.ObjectMetaApplyConfiguration {
	if b.ObjectMetaApplyConfiguration == nil {
		b.ObjectMetaApplyConfiguration = &metav1ac.ObjectMetaApplyConfiguration{}
	}
	return b.ObjectMetaApplyConfiguration
}
