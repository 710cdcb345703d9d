// Package applyconfiguration holds the types of a server-side apply of Foos. The package
// applyconfiguration of api/examples-gzh.com explains them.
package applyconfiguration

import (
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

// FooApplyConfiguration is a Foo of which any part may be left out.
type FooApplyConfiguration struct {
	metav1ac.TypeMetaApplyConfiguration   `json:""`
	metav1ac.ObjectMetaApplyConfiguration `json:"metadata"`

	Spec *FooSpecApplyConfiguration `json:"spec,omitempty"`
	// Status is for ApplyStatus. For Apply, the API server ignores it.
	Status *FooStatusApplyConfiguration `json:"status,omitempty"`
}

// Foo begins a configuration of the Foo with this name.
func Foo(name, namespace string) *FooApplyConfiguration {
	b := &FooApplyConfiguration{}
	b.Kind, b.APIVersion = new("Foo"), new(v1alpha1.SchemeGroupVersion.String())
	b.Name, b.Namespace = &name, &namespace
	return b
}

// FooSpecApplyConfiguration is a FooSpec of which any field may be left out.
type FooSpecApplyConfiguration struct {
	DeploymentName *string `json:"deploymentName,omitempty"`
	Replicas       *int32  `json:"replicas,omitempty"`
}

// FooStatusApplyConfiguration is a FooStatus of which any field may be left out.
type FooStatusApplyConfiguration struct {
	Replicas           *int32                                 `json:"replicas,omitempty"`
	AvailableReplicas  *int32                                 `json:"availableReplicas,omitempty"`
	ObservedGeneration *int64                                 `json:"observedGeneration,omitempty"`
	Selector           *string                                `json:"selector,omitempty"`
	Conditions         []metav1ac.ConditionApplyConfiguration `json:"conditions,omitempty"`
}

// IsApplyConfiguration makes this a runtime.ApplyConfiguration.
func (FooApplyConfiguration) IsApplyConfiguration() {}
