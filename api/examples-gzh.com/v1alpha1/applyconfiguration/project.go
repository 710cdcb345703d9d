// Package applyconfiguration holds the types of a server-side apply of Projects.
//
// An apply request sets the fields that it has, and makes the caller their owner. The types in
// types.go cannot leave a field out: a number that is not set would be sent as 0. Here every
// field is a pointer or a slice, and nil is not sent:
//
//	config := Project("example-project", "default")
//	config.Spec = &ProjectSpecApplyConfiguration{Replicas: new(int32(3))}
//
// applyconfiguration-gen generates the same, and a setter for each field.
package applyconfiguration

import (
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	"example.com/byhand/api/examples-gzh.com/v1alpha1"
)

// ProjectApplyConfiguration is a Project of which any part may be left out.
type ProjectApplyConfiguration struct {
	metav1ac.TypeMetaApplyConfiguration   `json:""`
	metav1ac.ObjectMetaApplyConfiguration `json:"metadata"`

	Spec *ProjectSpecApplyConfiguration `json:"spec,omitempty"`
}

// Project begins a configuration of the Project with this name.
func Project(name, namespace string) *ProjectApplyConfiguration {
	b := &ProjectApplyConfiguration{}
	b.Kind, b.APIVersion = new("Project"), new(v1alpha1.SchemeGroupVersion.String())
	b.Name, b.Namespace = &name, &namespace
	return b
}

// ProjectSpecApplyConfiguration is a ProjectSpec of which any field may be left out.
type ProjectSpecApplyConfiguration struct {
	Replicas *int32 `json:"replicas,omitempty"`
}

// IsApplyConfiguration makes this a runtime.ApplyConfiguration.
func (ProjectApplyConfiguration) IsApplyConfiguration() {}
