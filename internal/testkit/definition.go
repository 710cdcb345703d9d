package testkit

import (
	"io/fs"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"sigs.k8s.io/yaml"

	"example.com/byhand/config"
)

// Definition is a CustomResourceDefinition, as far as tests know it.
type Definition struct {
	APIVersion string
	Metadata   struct{ Name string }
	Spec       struct {
		Group      string
		Conversion any
		Names      struct {
			Kind, ListKind, Plural string
			ShortNames, Categories []string
		}
		Versions []struct {
			Name            string
			Served, Storage bool
			Schema          struct{ OpenAPIV3Schema Schema }
			Subresources    map[string]any
		}
	}
}

// Schema is what an OpenAPI schema says of a field.
type Schema struct {
	Description, Type, Format, Pattern string
	Enum, Required                     []string
	Properties                         map[string]Schema
	Items                              *Schema
	// AdditionalProperties is what a map holds.
	AdditionalProperties *Schema
	MinLength, MaxLength int
	MaxItems, Maximum    int
	Minimum              *int
	// Not is there for a property of which no value is valid.
	Not *struct{}
}

// resource is the first version of what is defined.
func (d Definition) resource() Resource {
	version, names := d.Spec.Versions[0], d.Spec.Names
	_, status := version.Subresources["status"]
	_, scale := version.Subresources["scale"]
	return Resource{
		GroupVersionKind: schema.GroupVersionKind{Group: d.Spec.Group, Version: version.Name, Kind: names.Kind},
		Plural:           names.Plural, ShortNames: names.ShortNames,
		Status: status, Scale: scale, Generation: true, Schema: &version.Schema.OpenAPIV3Schema,
	}
}

// ours are the kinds of config/crd.
var ours = sync.OnceValue(func() (all []Resource) {
	files, err := fs.Glob(config.CRDs, "crd/*.yaml")
	utilruntime.Must(err)
	for _, file := range files {
		text, err := config.CRDs.ReadFile(file)
		utilruntime.Must(err)
		var d Definition
		utilruntime.Must(yaml.Unmarshal(text, &d))
		all = append(all, d.resource())
	}
	return all
})
