package applyconfiguration

import (
	"k8s.io/apimachinery/pkg/types"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	"example.com/byhand/api/examples-gzh.com/v1alpha1"
)

// ProjectApplyConfiguration is a Project of which any part may be left out.
type ProjectApplyConfiguration struct {
	metav1ac.TypeMetaApplyConfiguration    `json:""`
	*metav1ac.ObjectMetaApplyConfiguration `json:"metadata,omitempty"`

	Spec *ProjectSpecApplyConfiguration `json:"spec,omitempty"`
}

// Project begins a configuration of the Project with this name.
func Project(name, namespace string) *ProjectApplyConfiguration {
	b := &ProjectApplyConfiguration{}
	b.Kind, b.APIVersion = new("Project"), new(v1alpha1.SchemeGroupVersion.String())
	return b.WithName(name).WithNamespace(namespace)
}

// WithSpec sets spec. The value is kept, not copied.
func (b *ProjectApplyConfiguration) WithSpec(value *ProjectSpecApplyConfiguration) *ProjectApplyConfiguration {
	b.Spec = value
	return b
}

// ProjectSpecApplyConfiguration is a ProjectSpec of which any field may be left
// out.
type ProjectSpecApplyConfiguration struct {
	Replicas *int32 `json:"replicas,omitempty"`
}

// ProjectSpec begins an empty configuration of a ProjectSpec.
func ProjectSpec() *ProjectSpecApplyConfiguration { return &ProjectSpecApplyConfiguration{} }

// WithReplicas sets spec.replicas.
func (b *ProjectSpecApplyConfiguration) WithReplicas(value int32) *ProjectSpecApplyConfiguration {
	b.Replicas = &value
	return b
}

// The setters below fill in metadata. A setter that is called again replaces what
// it set before; those that take several values add to them.

// WithName sets metadata.name.
func (b *ProjectApplyConfiguration) WithName(value string) *ProjectApplyConfiguration {
	b.metadata().WithName(value)
	return b
}

// WithNamespace sets metadata.namespace.
func (b *ProjectApplyConfiguration) WithNamespace(value string) *ProjectApplyConfiguration {
	b.metadata().WithNamespace(value)
	return b
}

// WithUID sets metadata.uid. The server refuses the request if the object has
// another one.
func (b *ProjectApplyConfiguration) WithUID(value types.UID) *ProjectApplyConfiguration {
	b.metadata().WithUID(value)
	return b
}

// WithResourceVersion sets metadata.resourceVersion. The server refuses the request
// with a Conflict if the object has another one.
func (b *ProjectApplyConfiguration) WithResourceVersion(value string) *ProjectApplyConfiguration {
	b.metadata().WithResourceVersion(value)
	return b
}

// WithLabels adds to metadata.labels.
func (b *ProjectApplyConfiguration) WithLabels(entries map[string]string) *ProjectApplyConfiguration {
	b.metadata().WithLabels(entries)
	return b
}

// WithAnnotations adds to metadata.annotations.
func (b *ProjectApplyConfiguration) WithAnnotations(entries map[string]string) *ProjectApplyConfiguration {
	b.metadata().WithAnnotations(entries)
	return b
}

// WithOwnerReferences adds to metadata.ownerReferences. It panics on nil.
func (b *ProjectApplyConfiguration) WithOwnerReferences(values ...*metav1ac.OwnerReferenceApplyConfiguration) *ProjectApplyConfiguration {
	b.metadata().WithOwnerReferences(values...)
	return b
}

// WithFinalizers adds to metadata.finalizers.
func (b *ProjectApplyConfiguration) WithFinalizers(values ...string) *ProjectApplyConfiguration {
	b.metadata().WithFinalizers(values...)
	return b
}

// GetKind returns kind, nil if it is not set.
func (b *ProjectApplyConfiguration) GetKind() *string { return b.Kind }

// GetAPIVersion returns apiVersion, nil if it is not set.
func (b *ProjectApplyConfiguration) GetAPIVersion() *string { return b.APIVersion }

// GetName returns metadata.name, nil if it is not set.
func (b *ProjectApplyConfiguration) GetName() *string { return b.metadata().Name }

// GetNamespace returns metadata.namespace, nil if it is not set.
func (b *ProjectApplyConfiguration) GetNamespace() *string { return b.metadata().Namespace }

// IsApplyConfiguration makes this a runtime.ApplyConfiguration.
func (b ProjectApplyConfiguration) IsApplyConfiguration() {}

func (b *ProjectApplyConfiguration) metadata() *metav1ac.ObjectMetaApplyConfiguration {
	if b.ObjectMetaApplyConfiguration == nil {
		b.ObjectMetaApplyConfiguration = &metav1ac.ObjectMetaApplyConfiguration{}
	}
	return b.ObjectMetaApplyConfiguration
}
