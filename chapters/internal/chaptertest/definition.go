package chaptertest

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// Definition is the part of a CustomResourceDefinition that is compared with Go.
type Definition struct {
	Metadata struct{ Name string }
	Spec     struct {
		Group      string
		Conversion any
		Names      struct{ Kind, ListKind, Plural string }
		Versions   []struct {
			Name            string
			Served, Storage bool
			Schema          struct{ OpenAPIV3Schema Schema }
		}
	}
}

// Schema is what an OpenAPI schema says of a field.
type Schema struct {
	Description, Type, Format, Pattern string
	Required                           []string
	Properties                         map[string]Schema
	Items                              *Schema
	MaxItems, Maximum                  int
	// Not is there for a property of which no value is valid.
	Not *struct{}
}

// ReadDefinition reads one in YAML.
func ReadDefinition(t *testing.T, text []byte) (d Definition) {
	t.Helper()
	if err := yaml.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// CompareSchema fails the test unless each field of a Go type is in the schema, and each
// field of the schema in Go: a client drops what the type lacks, an API server what the
// schema lacks. path is what the errors call the type.
func CompareSchema(t *testing.T, path string, typ reflect.Type, got Schema) {
	t.Helper()
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	if want := wireType(typ); want != got.Type+" "+got.Format {
		t.Errorf("%s is %q in Go and %q in the schema", path, want, got.Type+" "+got.Format)
		return
	}
	if typ.Kind() == reflect.Slice {
		CompareSchema(t, path+"[]", typ.Elem(), *got.Items)
	}
	if typ.Kind() != reflect.Struct || typ.PkgPath() == reflect.TypeFor[metav1.ObjectMeta]().PkgPath() {
		return
	}
	required, known := []string{}, []string{"apiVersion", "kind"}
	for field := range typ.Fields() {
		if field.Type == reflect.TypeFor[metav1.TypeMeta]() {
			continue
		}
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		known = append(known, name)
		property, ok := got.Properties[name]
		if !ok {
			t.Errorf("%s.%s is in Go and not in the schema", path, name)
			continue
		}
		if options == "" && name != "status" {
			required = append(required, name)
		}
		if name != "metadata" && property.Description == "" {
			t.Errorf("%s.%s has no description", path, name)
		}
		CompareSchema(t, path+"."+name, field.Type, property)
	}
	for name, property := range got.Properties {
		if !slices.Contains(known, name) && property.Not == nil {
			t.Errorf("%s.%s is in the schema and not in Go", path, name)
		}
	}
	slices.Sort(required)
	if slices.Sort(got.Required); !slices.Equal(required, got.Required) {
		t.Errorf("%s: the schema requires %q, and Go always sends %q", path, got.Required, required)
	}
}

// wireType is the schema's type and format of a Go type.
func wireType(typ reflect.Type) string {
	switch {
	case typ == reflect.TypeFor[metav1.Time]():
		return "string date-time"
	case typ.Kind() == reflect.String:
		return "string "
	case typ.Kind() == reflect.Int32:
		return "integer int32"
	case typ.Kind() == reflect.Int64:
		return "integer int64"
	case typ.Kind() == reflect.Slice:
		return "array "
	default:
		return "object "
	}
}
