package crd

import (
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"example.com/byhand/kit/testkit"
)

// Parse reads a CustomResourceDefinition in YAML. The error names an unknown field.
func Parse(text []byte) (*apiextensionsv1.CustomResourceDefinition, error) {
	var is metav1.TypeMeta
	if err := yaml.Unmarshal(text, &is); err != nil {
		return nil, err
	}
	if want := apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"); is.GroupVersionKind() != want {
		hint := ""
		if is.APIVersion == want.Group+"/v1beta1" {
			hint = ". API servers since 1.22 reject v1beta1: each version in spec.versions has a schema now"
		}
		return nil, fmt.Errorf("apiVersion is %q and kind is %q, want a %s of %s%s", is.APIVersion, is.Kind, want.Kind, want.GroupVersion(), hint)
	}
	definition := &apiextensionsv1.CustomResourceDefinition{}
	return definition, yaml.UnmarshalStrict(text, definition)
}

// Resource returns the resource of a CustomResourceDefinition in YAML, for testkit.NewAPIServer. The error
// names a field that an API server would reject, or a feature that the server in memory does not support.
func Resource(text []byte) (testkit.Resource, error) {
	definition, err := Parse(text)
	if err != nil {
		return testkit.Resource{}, err
	}
	spec := definition.Spec
	served := slices.DeleteFunc(slices.Clone(spec.Versions), func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return !v.Served })
	if len(served) != 1 || !served[0].Storage {
		return testkit.Resource{}, fmt.Errorf("spec.versions: %d versions are served. The API server in memory does not convert: "+
			"serve one version, and store this version", len(served))
	}
	version := served[0]
	resource := testkit.Resource{
		GroupVersionKind: schema.GroupVersionKind{Group: spec.Group, Version: version.Name, Kind: spec.Names.Kind},
		Plural:           spec.Names.Plural, ShortNames: spec.Names.ShortNames, Categories: spec.Names.Categories,
		ClusterScoped: spec.Scope == apiextensionsv1.ClusterScoped, Generation: true,
	}
	if version.Schema == nil || version.Schema.OpenAPIV3Schema == nil {
		return resource, fmt.Errorf("spec.versions[%s].schema.openAPIV3Schema: Required value", version.Name)
	}
	s, err := NewSchema(version.Schema.OpenAPIV3Schema)
	if err != nil {
		return resource, fmt.Errorf("spec.versions[%s].schema: %w", version.Name, err)
	}
	if subresources := version.Subresources; subresources != nil {
		resource.Status = subresources.Status != nil
		if scale := subresources.Scale; scale != nil {
			resource.Scale = &testkit.Scale{Replicas: scale.SpecReplicasPath, StatusReplicas: scale.StatusReplicasPath, Selector: ptr.Deref(scale.LabelSelectorPath, "")}
		}
	}
	for _, selectable := range version.SelectableFields {
		resource.Selectable = append(resource.Selectable, strings.TrimPrefix(selectable.JSONPath, "."))
	}
	resource.Schema = s
	return resource, nil
}
